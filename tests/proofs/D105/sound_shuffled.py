# Shuffled by the loader, by a sampler, or by hand before.
import torch
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

torch.manual_seed(0)
y = torch.cat([torch.full((40,), c) for c in range(4)])
x = torch.randn(160, 5) + y[:, None]
order = torch.randperm(160)
mixed = TensorDataset(x[order], y[order])
grouped = TensorDataset(x, y)
net = nn.Linear(5, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for loader in (
    DataLoader(mixed, batch_size=16),
    DataLoader(grouped, batch_size=16, shuffle=True),
    DataLoader(grouped, batch_size=16, sampler=RandomSampler(grouped)),
):
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(a), b).backward()
        optimizer.step()
