# require_grad instead of requires_grad.
# line: 9
import torch
from torch import nn


def freeze(module):
    for p in module.parameters():
        p.require_grad = False


torch.manual_seed(0)
x, y = torch.randn(64, 6), torch.randint(0, 2, (64,))
backbone = nn.Sequential(nn.Linear(6, 12), nn.ReLU())
freeze(backbone)
model = nn.Sequential(backbone, nn.Linear(12, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    opt.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    opt.step()
