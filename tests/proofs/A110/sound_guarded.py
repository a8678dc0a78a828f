# Square roots, logarithms and divisions with a small number inside, and x log x at zero.
import torch
from torch import nn


def entropy(p):
    return -torch.special.xlogy(p, p.clamp_min(1e-12)).sum(-1).mean()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(40):
    x = torch.randn(16, 5)
    h = torch.relu(net(x))
    length = (h.pow(2).sum(1, keepdim=True) + 1e-12).sqrt()
    unit = h / length.clamp_min(1e-6)
    distance = torch.cdist(h, h).mean() + nn.functional.normalize(h, dim=1).pow(2).mean()
    loss = (
        distance + (unit - x[:, :4]).abs().mean() - 0.01 * entropy(h.softmax(-1)) + torch.log(h + 1e-8).mean() * 0.001
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
