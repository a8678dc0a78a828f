# Sums that are divided by the number of samples.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
coder = nn.Sequential(nn.Linear(20, 6), nn.Linear(6, 20))
optimizer = torch.optim.SGD(coder.parameters(), lr=1e-2)
for _ in range(12):
    x = torch.randn(32, 20)
    loss = F.mse_loss(coder(x), x, reduction="sum") / len(x)
    loss = loss + 0.1 * F.l1_loss(coder(x), x, reduction="sum") * (1 / x.numel())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
