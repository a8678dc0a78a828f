# A layer is added to the network after the optimizer was made.
# line: 11
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 6)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
model.append(nn.Linear(16, 1))
for step in range(24):
    optimizer.zero_grad()
    (model(x) - y).pow(2).mean().backward()
    optimizer.step()
