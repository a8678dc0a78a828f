# All pairs of two large sets at once.
# line: 10
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 64)
x, y = torch.zeros(1_000_000, 4), torch.zeros(1_000_000, 4)
net(x[:8]).sum().backward()
distances = (x[:, None] - y[None]).pow(2).sum(-1)
