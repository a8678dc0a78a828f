# Features of a network that is in no optimizer, cut off on purpose.
import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(6, 12), nn.Tanh())
head = nn.Linear(12, 2)
opt = torch.optim.Adam(head.parameters(), lr=1e-2)
x, y = torch.randn(64, 6), torch.randint(0, 2, (64,))
for step in range(20):
    features = backbone(x).detach()
    opt.zero_grad()
    nn.functional.cross_entropy(head(features), y).backward()
    opt.step()
