# The batches are moved, the model is not.
# line: 20
# also: A103
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.norm(x))


device = torch.device("meta")
torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    x = torch.randn(8, 4).to(device)
    net(x).sum().backward()
    optimizer.step()
