# The model is built anew after the optimizer was made.
# line: 15
import torch
from torch import nn


def build(width):
    return nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 1))


torch.manual_seed(0)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
model = build(8)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
model = build(16)
for step in range(24):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
