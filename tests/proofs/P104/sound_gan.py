# Two optimizers, each loss scaled, one update.
import torch
from torch import nn

torch.manual_seed(0)
g = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
d = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g, opt_d = torch.optim.Adam(g.parameters(), lr=1e-3), torch.optim.Adam(d.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for step in range(30):
    real = torch.randn(32, 2) + 1
    with torch.autocast("cpu", dtype=torch.float16):
        fake = g(torch.randn(32, 4))
        loss_d = nn.functional.softplus(-d(real)).mean() + nn.functional.softplus(d(fake.detach())).mean()
    opt_d.zero_grad()
    scaler.scale(loss_d).backward()
    scaler.unscale_(opt_d)
    nn.utils.clip_grad_norm_(d.parameters(), 1.0)
    scaler.step(opt_d)
    with torch.autocast("cpu", dtype=torch.float16):
        loss_g = nn.functional.softplus(-d(fake)).mean()
    opt_g.zero_grad()
    scaler.scale(loss_g).backward()
    scaler.step(opt_g)
    scaler.update()
