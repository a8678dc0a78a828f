# A discriminator's step on detached samples; straight-through quantisation.
import torch
from torch import nn

torch.manual_seed(0)
g = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
d = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
codes = nn.Embedding(8, 2)
g_opt = torch.optim.Adam([*g.parameters(), *codes.parameters()], lr=1e-3)
d_opt = torch.optim.Adam(d.parameters(), lr=1e-3)
bce = nn.functional.binary_cross_entropy_with_logits
for step in range(20):
    real, z = torch.randn(32, 2) + 2, torch.randn(32, 4)
    fake = g(z)
    nearest = codes(torch.cdist(fake, codes.weight).argmin(1))
    quantised = fake + (nearest - fake).detach()
    d_loss = bce(d(real), torch.ones(32, 1)) + bce(d(quantised.detach()), torch.zeros(32, 1))
    d_opt.zero_grad()
    d_loss.backward()
    d_opt.step()
    g_loss = bce(d(quantised), torch.ones(32, 1)) + (nearest - fake.detach()).pow(2).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
