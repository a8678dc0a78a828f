# A training step compiles a loss function each time.
# line: 12
import torch
from torch import nn


def criterion(a, b):
    return (a - b).abs().mean()


def step(model, optimizer, x):
    loss = torch.compile(criterion, backend="eager")(model(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


model = nn.Linear(3, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    step(model, optimizer, torch.randn(5, 3))
