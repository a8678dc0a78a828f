# Many micro-batches before each step.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
optimizer.zero_grad()
for i in range(96):
    x = torch.randn(8, 4)
    ((model(x) - x.sum(1, keepdim=True)).pow(2).mean() / 32).backward()
    if i % 32 == 31:
        optimizer.step()
        optimizer.zero_grad()
