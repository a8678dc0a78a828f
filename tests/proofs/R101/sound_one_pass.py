# One pass over the data, and a sampler that does not shuffle.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

data = TensorDataset(torch.randn(32, 3))
once = DataLoader(data, batch_size=4, sampler=DistributedSampler(data, num_replicas=2, rank=0))
ordered = DataLoader(data, batch_size=4, sampler=DistributedSampler(data, num_replicas=2, rank=0, shuffle=False))
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for (x,) in once:
    optimizer.zero_grad()
    net(x).pow(2).mean().backward()
    optimizer.step()
for epoch in range(2):
    for (x,) in ordered:
        optimizer.zero_grad()
        net(x).pow(2).mean().backward()
        optimizer.step()
