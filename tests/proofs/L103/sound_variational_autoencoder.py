# A variational autoencoder: summed binary loss on sigmoid outputs, divergence in closed form, divided by the batch.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.leave = (
            nn.Linear(20, 8),
            nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 20), nn.Sigmoid()),
        )

    def forward(self, x):
        mean, logvar = self.enter(x).chunk(2, dim=1)
        z = mean + torch.randn_like(mean) * (0.5 * logvar).exp()
        return self.leave(z), mean, logvar


vae = Vae()
optimizer = torch.optim.Adam(vae.parameters(), lr=1e-3)
for _ in range(15):
    x = torch.rand(32, 20)
    y, mean, logvar = vae(x)
    divergence = -0.5 * (1 + logvar - mean.pow(2) - logvar.exp()).sum()
    loss = (F.binary_cross_entropy(y, x, reduction="sum") + divergence) / len(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
