# The data are joined class by class and read in order.
# line: 10
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = torch.cat([torch.full((40,), c) for c in range(4)])
x = torch.randn(160, 5) + y[:, None]
loader = DataLoader(TensorDataset(x, y), batch_size=16)
net = nn.Linear(5, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(2):
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(a), b).backward()
        optimizer.step()
