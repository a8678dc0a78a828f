import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Critic(nn.Module):
    """A discriminator with the standard deviation over the batch as a feature (progressive GAN)."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, 2, 1)
        self.head = nn.Linear(9 * 16, 1)

    def forward(self, x):
        h = F.leaky_relu(self.conv(x), 0.2)
        n, _, height, width = h.shape
        grouped = h.view(4, n // 4, 8, height, width)
        std = (grouped.var(0, unbiased=False) + 1e-8).sqrt().mean((1, 2, 3), keepdim=True)
        std = std.repeat(4, 1, height, width)
        return self.head(torch.cat([h, std], 1).flatten(1)).squeeze(1)


torch.manual_seed(0)
critic, generator = Critic(), nn.Sequential(nn.Linear(5, 64), nn.Tanh(), nn.Unflatten(1, (1, 8, 8)))
opt_c, opt_g = torch.optim.Adam(critic.parameters(), 1e-3), torch.optim.Adam(generator.parameters(), 1e-3)
for (real,) in DataLoader(TensorDataset(torch.rand(96, 1, 8, 8)), batch_size=12, shuffle=True):
    fake = generator(torch.randn(12, 5))
    both = F.binary_cross_entropy_with_logits
    loss = both(critic(real), torch.ones(12)) + both(critic(fake.detach()), torch.zeros(12))
    opt_c.zero_grad()
    loss.backward()
    opt_c.step()
    loss = both(critic(fake), torch.ones(12))
    opt_g.zero_grad()
    loss.backward()
    opt_g.step()
