# A linear layer built in forward.
# line: 14
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)

    def forward(self, x):
        h = torch.relu(self.conv(x)).flatten(1)
        fc = nn.Linear(h.shape[1], 3)
        return fc(h)


torch.manual_seed(0)
x, y = torch.randn(32, 1, 8, 8), torch.randint(0, 3, (32,))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(12):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
