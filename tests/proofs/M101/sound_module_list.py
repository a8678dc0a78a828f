# The layers are registered; names of them stay in a list.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Linear(8, 8) for _ in range(2)]
        self.hidden = nn.ModuleList(layers)
        self.order = layers[::-1]
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        for layer in self.order:
            x = torch.relu(layer(x))
        return self.out(x)


torch.manual_seed(0)
x = torch.randn(64, 8)
y = (x[:, 0] > 0).long()
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(20):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
