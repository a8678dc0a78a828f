# Two optimizers over two networks; each step's gradients reach both.
import torch
from torch import nn

torch.manual_seed(0)
d = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
d_opt = torch.optim.RMSprop(d.parameters(), lr=1e-3)
g = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
g_opt = torch.optim.RMSprop(g.parameters(), lr=1e-3)
for step in range(24):
    z = torch.randn(32, 4)
    d_opt.zero_grad()
    (d(g(z).detach()).mean() - d(torch.randn(32, 2)).mean()).backward()
    d_opt.step()
    for p in d.parameters():
        p.data.clamp_(-0.1, 0.1)
    g_opt.zero_grad()
    (-d(g(z)).mean()).backward()
    g_opt.step()
