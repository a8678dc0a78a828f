# The last batch has one sample, whose standard deviation over the batch is 0 / 0.
# line: 8
import torch
from torch import nn


def whiten(h):
    return (h - h.mean(0)) / (h.std(0) + 1e-5)


torch.manual_seed(0)
first, second = nn.Linear(4, 8), nn.Linear(8, 1)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=1e-2)
x, y = torch.randn(97, 4), torch.randn(97, 1)
for epoch in range(3):
    for rows in torch.randperm(97).split(16):
        loss = nn.functional.mse_loss(second(whiten(first(x[rows]))), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
