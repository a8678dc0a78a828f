# Far into training two samples coincide for the first time; the root of their distance has no derivative.
# line: 13
import torch
from torch import nn


class Pairs(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, a, b):
        return ((self.net(a) - self.net(b)) ** 2).sum(1) ** 0.5


torch.manual_seed(0)
model = Pairs()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(130):
    a, b = torch.randn(8, 3), torch.randn(8, 3)
    if step == 101:
        b[3] = a[3]
    loss = (model(a, b) - (a - b).abs().sum(1)).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
