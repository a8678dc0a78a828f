import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    x = torch.randn(16, 12)
    views = torch.cat([x + 0.1 * torch.randn(16, 12), x + 0.1 * torch.randn(16, 12)])
    z = F.normalize(net(views), dim=1)
    likeness = (z @ z.T / 0.5).masked_fill(torch.eye(32, dtype=torch.bool), -1e9)
    loss = F.cross_entropy(likeness, torch.arange(32).roll(16))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
