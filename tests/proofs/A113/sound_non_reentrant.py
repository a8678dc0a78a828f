# The non-reentrant variant asks the parameters too.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
block = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
head = nn.Linear(8, 3)
optimizer = torch.optim.Adam([*block.parameters(), *head.parameters()], lr=1e-3)
for _ in range(10):
    x, y = torch.randn(16, 8), torch.randint(0, 3, (16,))
    loss = nn.functional.cross_entropy(head(checkpoint(block, x, use_reentrant=False)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
