# Losses of two networks that play against each other rise and fall.
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
g = torch.optim.Adam(generator.parameters(), lr=1e-2, betas=(0.5, 0.9))
d = torch.optim.Adam(critic.parameters(), lr=1e-2, betas=(0.5, 0.9))
for step in range(120):
    real, fake = torch.randn(32, 2) + 4, generator(torch.randn(32, 4))
    loss_d = critic(fake.detach()).mean() - critic(real).mean()
    d.zero_grad()
    loss_d.backward()
    d.step()
    loss_g = -critic(generator(torch.randn(32, 4))).mean()
    g.zero_grad()
    loss_g.backward()
    g.step()
