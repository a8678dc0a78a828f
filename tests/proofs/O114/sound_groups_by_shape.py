# Groups by shape; a default decay; an embedding without decay.
import torch
from torch import nn

torch.manual_seed(0)
ids = torch.randint(0, 9, (64,))
model = nn.Sequential(nn.Embedding(9, 8), nn.LayerNorm(8), nn.Linear(8, 1))
plain = [p for p in model.parameters() if p.ndim < 2] + [model[0].weight]
groups = [{"params": [model[2].weight], "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=1e-3)
other = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 1))
default = torch.optim.AdamW(other.parameters(), lr=1e-3)
for step in range(12):
    for net, opt, x in ((model, optimizer, ids), (other, default, torch.randn(64, 8))):
        opt.zero_grad()
        (net(x) - 1).pow(2).mean().backward()
        opt.step()
