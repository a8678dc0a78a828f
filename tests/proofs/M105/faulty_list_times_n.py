# [block] * depth in a ModuleList.
# line: 10
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(8, 8)] * depth)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        for block in self.blocks:
            x = x + torch.relu(block(x))
        return self.out(x)


torch.manual_seed(0)
x = torch.randn(64, 8)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(12):
    opt.zero_grad()
    (net(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    opt.step()
