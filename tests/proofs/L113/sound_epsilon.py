# Logarithms kept from zero by an epsilon.
import torch
from torch import nn

torch.manual_seed(0)
G, D = (
    nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)),
    nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid()),
)
og, od = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
eps = 1e-8
for _ in range(40):
    real, z = torch.randn(16, 2) + 2, torch.randn(16, 4)
    d = -(torch.log(D(real) + eps) + torch.log(1 - D(G(z).detach()) + eps)).mean()
    od.zero_grad()
    d.backward()
    od.step()
    g = -torch.log(D(G(z)) + eps).mean()
    og.zero_grad()
    g.backward()
    og.step()
