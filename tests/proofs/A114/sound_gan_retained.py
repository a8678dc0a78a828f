# One graph serves both networks of a GAN: retain_graph=True for the second, gradients before any step.
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
g_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3)
d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
for step in range(40):
    real = torch.randn(32, 2) * 0.5 + 2
    fake = generator(torch.randn(32, 4))
    score = discriminator(fake)
    g_loss = nn.functional.softplus(-score).mean()
    d_loss = nn.functional.softplus(score).mean() + nn.functional.softplus(-discriminator(real)).mean()
    g_optimizer.zero_grad()
    g_loss.backward(retain_graph=True)
    d_optimizer.zero_grad()
    d_loss.backward(inputs=list(discriminator.parameters()))
    d_optimizer.step()
    g_optimizer.step()
print(f"{d_loss.item():.3f} {g_loss.item():.3f}")
