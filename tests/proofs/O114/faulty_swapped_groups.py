# The decay falls on exactly the norms and biases.
# line: 9, 12, 13
# source: silent, which of two lists a parameter goes to in a loop is not followed
import torch
from torch import nn


def make_optimizer(model):
    decay, plain = [], []
    for name, p in model.named_parameters():
        (decay if p.ndim < 2 else plain).append(p)
    groups = [
        {"params": decay, "weight_decay": 0.1},
        {"params": plain, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=1e-3)


torch.manual_seed(0)
x = torch.randn(64, 8)
model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 1))
optimizer = make_optimizer(model)
for step in range(12):
    optimizer.zero_grad()
    (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    optimizer.step()
