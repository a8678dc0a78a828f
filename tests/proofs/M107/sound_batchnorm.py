import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 16), nn.BatchNorm1d(16), nn.Linear(16, 3)
)
optimizer = torch.optim.Adam(net.parameters())
for step in range(12):
    x, y = torch.randn(24, 10), torch.randint(0, 3, (24,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
