# The generator's loss leaves gradients in the discriminator, which clears them before its own.
import torch
from torch import nn

torch.manual_seed(2)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3)
bce = nn.BCEWithLogitsLoss()
real_label, fake_label = torch.ones(32, 1), torch.zeros(32, 1)

for step in range(40):
    discriminator.zero_grad()
    loss_real = bce(discriminator(torch.randn(32, 2) * 0.3 + 1.0), real_label)
    loss_real.backward()
    fake = generator(torch.randn(32, 4))
    loss_fake = bce(discriminator(fake.detach()), fake_label)
    loss_fake.backward()
    opt_d.step()

    generator.zero_grad()
    loss_g = bce(discriminator(fake), real_label)
    loss_g.backward()
    opt_g.step()
print(loss_g.item())
