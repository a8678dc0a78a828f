# Epochs go through a distributed sampler that is never told the epoch.
# line: 9
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

data = TensorDataset(torch.randn(32, 3))
sampler = DistributedSampler(data, num_replicas=2, rank=0)
loader = DataLoader(data, batch_size=4, sampler=sampler)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    for (x,) in loader:
        optimizer.zero_grad()
        net(x).pow(2).mean().backward()
        optimizer.step()
