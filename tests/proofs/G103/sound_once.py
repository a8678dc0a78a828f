# Compiled once, before the loop.
import torch
from torch import nn

net = nn.Linear(4, 1)
fast = torch.compile(net, backend="eager")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    loss = fast(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
