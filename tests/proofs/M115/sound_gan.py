# A GAN: the generator under no_grad for the critic, and sample pictures from fixed noise, in training mode.
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 4))
critic = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Dropout(0.1), nn.Linear(32, 1))
g_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3)
d_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
fixed = torch.randn(16, 8)
ones, zeros = torch.ones(32, 1), torch.zeros(32, 1)
for step in range(16):
    real = torch.randn(32, 4) + 2
    with torch.no_grad():
        fake = generator(torch.randn(32, 8))
    d_loss = F.binary_cross_entropy_with_logits(critic(real), ones)
    d_loss = d_loss + F.binary_cross_entropy_with_logits(critic(fake), zeros)
    d_optimizer.zero_grad()
    d_loss.backward()
    d_optimizer.step()
    g_loss = F.binary_cross_entropy_with_logits(critic(generator(torch.randn(32, 8))), ones)
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()
    if step % 4 == 0:
        with torch.no_grad():
            pictures = generator(fixed)
        print(step, pictures.mean().item())
