# A variational autoencoder: both parts of the bound are sums, and their ratio is meant.
import torch
from torch import nn
from torch.nn import functional as F


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(12, 8), nn.Linear(4, 12)

    def forward(self, x):
        centre, spread = self.inner(x).chunk(2, dim=1)
        drawn = centre + (0.5 * spread).exp() * torch.randn_like(spread)
        return self.outer(drawn), centre, spread


def bound(x, again, centre, spread):
    told = F.binary_cross_entropy_with_logits(again, x, reduction="sum") / len(x)
    cost = -0.5 * torch.sum(1 + spread - centre.square() - spread.exp()) / len(x)
    return told + cost


torch.manual_seed(0)
coder = Coder()
optimizer = torch.optim.Adam(coder.parameters(), lr=1e-3)
for _ in range(6):
    x = torch.rand(20, 12).round()
    optimizer.zero_grad()
    bound(x, *coder(x)).backward()
    optimizer.step()
