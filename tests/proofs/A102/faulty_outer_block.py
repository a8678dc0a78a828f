# The whole epoch is called within torch.no_grad(), two functions further out.
# line: 23
import torch
from torch import nn


def step(model, optimizer, x, y):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def epoch(model, optimizer, x, y):
    for idx in torch.randperm(len(x)).split(16):
        step(model, optimizer, x[idx], y[idx])


torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with torch.no_grad():
    x = (x - x.mean(dim=0)) / x.std(dim=0)
    epoch(model, optimizer, x, y)
