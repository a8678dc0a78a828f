# Dropout under checkpoint() as it is by default: the state of the generator is put back.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
inp, block, out = nn.Linear(6, 8), nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Dropout(0.3)), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*inp.parameters(), *block.parameters(), *out.parameters()], lr=1e-2)
for step in range(12):
    x = torch.randn(16, 6)
    h = checkpoint(block, inp(x), use_reentrant=bool(step % 2))
    loss = nn.functional.cross_entropy(out(h), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
