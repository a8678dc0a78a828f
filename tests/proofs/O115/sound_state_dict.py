# The whole state is averaged: parameters and statistics.
import copy

import torch
from torch import nn


class Ema:
    def __init__(self, model, decay=0.9):
        self.model = copy.deepcopy(model).eval()
        self.decay = decay
        for p in self.model.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        current = model.state_dict()
        for name, average in self.model.state_dict().items():
            if average.dtype.is_floating_point:
                average.mul_(self.decay).add_(current[name], alpha=1 - self.decay)
            else:
                average.copy_(current[name])


torch.manual_seed(0)
y = torch.randint(0, 2, (320,))
x = 5 + 3 * torch.randn(320, 6) + 4 * y[:, None]
model = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 2))
ema = Ema(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    model.train()
    for i in range(0, 256, 32):
        loss = nn.functional.cross_entropy(model(x[i : i + 32]), y[i : i + 32])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(model)
    with torch.no_grad():
        print(f"epoch {epoch} accuracy {(ema.model(x[256:]).argmax(1) == y[256:]).float().mean():.3f}")
