# The anchor is a copy; the straight-through estimator subtracts a value from its own detached self.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
anchor = [p.detach().clone() for p in model.parameters()]
gate = nn.Parameter(torch.ones(1, 6))
optimizer = torch.optim.Adam([*model.parameters(), gate], lr=1e-2)
for _ in range(12):
    x = torch.randn(32, 6)
    hard = gate + (gate.round() - gate).detach() + (gate - gate.detach())
    loss = nn.functional.cross_entropy(model(x * hard), (x[:, 1] > 0).long())
    loss = loss + sum(0.1 * (p - a).pow(2).sum() for p, a in zip(model.parameters(), anchor, strict=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
