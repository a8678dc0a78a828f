# In the generator's half the clearing comes after the backward.
# line: 19
import torch
from torch import nn


def train(steps):
    g = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
    d = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    opt_g, opt_d = (torch.optim.Adam(net.parameters(), lr=1e-3) for net in (g, d))
    for step in range(steps):
        real, fake = torch.randn(32, 2) + 1, g(torch.randn(32, 4))
        opt_d.zero_grad()
        loss_d = nn.functional.softplus(-d(real)).mean() + nn.functional.softplus(d(fake.detach())).mean()
        loss_d.backward()
        opt_d.step()
        loss_g = nn.functional.softplus(-d(fake)).mean()
        loss_g.backward()
        opt_g.zero_grad()
        opt_g.step()
    return loss_g.item()


torch.manual_seed(2)
print(train(40))
