# One optimizer over two heads that take turns: each keeps its gradient while the other trains.
import torch
from torch import nn

torch.manual_seed(7)
first, second = nn.Linear(6, 1), nn.Linear(6, 1)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.02)
for step in range(60):
    net = first if step % 2 else second
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
    optimizer.step()
