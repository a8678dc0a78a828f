# The reconstruction error is summed and goes straight into backward().
# line: 12
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
coder = nn.Sequential(nn.Linear(20, 6), nn.Linear(6, 20))
optimizer = torch.optim.SGD(coder.parameters(), lr=1e-4)
for _ in range(12):
    x = torch.randn(32, 20)
    loss = F.mse_loss(coder(x), x, reduction="sum")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
