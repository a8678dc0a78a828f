# preserve_rng_state=False where nothing random is inside; randomness outside is not the checkpoint's business.
import random

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
inp, block, out = nn.Linear(5, 8), nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8)), nn.Linear(8, 1)
drop = nn.Dropout(0.1)
optimizer = torch.optim.Adam([p for m in (inp, block, out) for p in m.parameters()], lr=1e-3)
for _ in range(10):
    x = torch.randn(32, 5) * random.uniform(0.9, 1.1)
    h = checkpoint(block, drop(inp(x)), use_reentrant=False, preserve_rng_state=False)
    loss = nn.functional.mse_loss(out(h), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
