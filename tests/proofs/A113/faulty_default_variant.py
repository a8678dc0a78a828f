# line: 20
# A frozen encoder, the argument left out, and a function that closes over the block.
import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

warnings.simplefilter("ignore")
torch.manual_seed(0)
encoder = nn.Linear(8, 16).requires_grad_(False)
block = nn.Sequential(nn.Linear(16, 16), nn.GELU(), nn.Linear(16, 16))
head = nn.Linear(16, 1)
optimizer = torch.optim.Adam([*block.parameters(), *head.parameters()], lr=1e-3)
for _ in range(10):
    x = torch.randn(32, 8)
    with torch.no_grad():
        h = encoder(x)
    h = head(
        checkpoint(lambda value: block(value), h)
    )
    loss = (h.squeeze(1) - x[:, 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
