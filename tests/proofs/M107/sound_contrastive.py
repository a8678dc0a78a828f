import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 16))
optimizer = torch.optim.Adam(net.parameters())
for step in range(12):
    x = torch.randn(16, 20)
    one, two = (
        F.normalize(net(x + 0.1 * torch.randn_like(x)), dim=1),
        F.normalize(net(x + 0.1 * torch.randn_like(x)), dim=1),
    )
    logits = one @ two.T / 0.1
    loss = F.cross_entropy(logits, torch.arange(16))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
