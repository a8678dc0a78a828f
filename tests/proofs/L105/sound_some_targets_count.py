# Ignored targets in every batch, but never all; where none count, the batch is left out.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(6, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(20):
    x, y = torch.randn(8, 6), torch.randint(3, (8,))
    y[: step % 9] = -100
    if (y == -100).all():
        continue
    loss = F.cross_entropy(net(x), y)
    total = F.nll_loss(net(x).log_softmax(1), y, reduction="sum") / (y != -100).sum().clamp(min=1)
    optimizer.zero_grad()
    (loss + total).backward()
    optimizer.step()
