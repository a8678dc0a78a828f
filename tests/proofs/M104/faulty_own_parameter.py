# A Parameter of the module itself is never used.
# line: 11
import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(n))
        self.offset = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        return x @ self.weight


torch.manual_seed(0)
x = torch.randn(100, 3)
y = x.sum(1) + 2
model = Regressor(3)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(30):
    opt.zero_grad()
    (model(x) - y).pow(2).mean().backward()
    opt.step()
