import torch
from torch import nn
import torch.nn.functional as F


class VAE(nn.Module):
    def __init__(self, d=36, z=4):
        super().__init__()
        self.enc = nn.Linear(d, 48)
        self.mu, self.logvar = nn.Linear(48, z), nn.Linear(48, z)
        self.dec = nn.Sequential(nn.Linear(z, 48), nn.ReLU(), nn.Linear(48, d), nn.Sigmoid())

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def elbo(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return (bce + kld) / len(x)


torch.manual_seed(0)
proto = (torch.rand(4, 36) > 0.5).float()
x = torch.where(torch.rand(800, 36) < 0.1, 1 - proto[torch.randint(0, 4, (800,))], proto[torch.randint(0, 4, (800,))])
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=2e-3)
for epoch in range(4):
    for i in torch.randperm(800).split(40):
        recon, mu, logvar = vae(x[i])
        loss = elbo(recon, x[i], mu, logvar)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
