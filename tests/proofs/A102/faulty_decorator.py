# @torch.no_grad() above the training step.
# line: 12
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.no_grad()
def forward_loss(x, y):
    return nn.functional.mse_loss(model(x), y)


for step in range(3):
    optimizer.zero_grad()
    forward_loss(x, y).backward()
    optimizer.step()
