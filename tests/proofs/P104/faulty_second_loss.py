# One of two networks forgets the scale.
# line: 22
import torch
from torch import nn

torch.manual_seed(0)
g = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
d = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g, opt_d = torch.optim.Adam(g.parameters(), lr=1e-3), torch.optim.Adam(d.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=256.0)
for step in range(40):
    real = torch.randn(32, 2) + 1
    opt_d.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        fake = g(torch.randn(32, 4))
        loss_d = nn.functional.softplus(-d(real)).mean() + nn.functional.softplus(d(fake.detach())).mean()
    scaler.scale(loss_d).backward()
    scaler.step(opt_d)
    opt_g.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss_g = nn.functional.softplus(-d(fake)).mean()
    loss_g.backward()
    scaler.step(opt_g)
    scaler.update()
print(loss_g.item())
