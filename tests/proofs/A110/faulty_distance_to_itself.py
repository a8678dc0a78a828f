# The distance of a sample to itself is zero, where the square root has no derivative; the loss stays finite.
# line: 9
import torch
from torch import nn


def pairwise(a):
    squared = (a[:, None] - a[None]).pow(2).sum(-1)
    return squared.sqrt()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(10):
    x = torch.randn(24, 8)
    label = (x[:, 0] > 0).long()
    distance = pairwise(net(x))
    same = (label[:, None] == label[None]).float()
    loss = (same * distance + (1 - same) * (1 - distance).clamp(min=0)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
