# General first, special after it; another scale by the same function.
import torch
from torch import nn


def init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, std=0.1)
        nn.init.zeros_(m.bias)


torch.manual_seed(0)
x = torch.randn(64, 8)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
model.apply(init)
nn.init.normal_(model[2].weight, std=0.02)
nn.init.zeros_(model[4].weight)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(10):
    opt.zero_grad()
    (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    opt.step()
