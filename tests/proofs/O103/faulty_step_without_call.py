# `optimizer.step` without parentheses.
# line: 10
import torch
from torch import nn


def train(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step


torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
batches = [(x, x.sum(1, keepdim=True)) for x in torch.randn(10, 16, 3)]
for epoch in range(4):
    train(net, batches, opt)
