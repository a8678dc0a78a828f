# Layers are dropped by Python's own generator, which checkpoint() does not know.
# line: 22
import random

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.out = nn.Linear(6, 8), nn.Linear(8, 2)
        self.layers = nn.ModuleList(nn.Linear(8, 8) for _ in range(3))

    def part(self, layer, h):
        return h + random.uniform(0.5, 1.5) * torch.tanh(layer(h))

    def forward(self, x):
        h = self.inp(x)
        for layer in self.layers:
            h = checkpoint(self.part, layer, h, use_reentrant=False)
        return self.out(h)


random.seed(0)
torch.manual_seed(0)
model = Deep()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(12):
    x = torch.randn(16, 6)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
