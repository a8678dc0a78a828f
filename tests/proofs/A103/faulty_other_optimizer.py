# A GAN whose discriminator step clears the generator by a slip.
# line: 18, 23
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
    real = torch.randn(32, 2) * 0.3 + 1.0
    fake = generator(torch.randn(32, 4))

    opt_g.zero_grad()
    loss_d = bce(discriminator(real), real_label) + bce(discriminator(fake.detach()), fake_label)
    loss_d.backward()
    opt_d.step()

    opt_g.zero_grad()
    loss_g = bce(discriminator(fake), real_label)
    loss_g.backward()
    opt_g.step()
print(loss_d.item(), loss_g.item())
