# reshape, contiguous, views that are possible after a transpose, and a program that tries.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(8, 8)
for step in range(2):
    x = net(torch.randn(2, 5, 8)).transpose(1, 2)
    a, b = x.reshape(2, -1), x.contiguous().view(2, -1)
    c = x.transpose(1, 2).view(2, -1)
    d = x.view(2, 2, 4, 5)
    (a.mean() + b.mean() + c.mean() + d.mean()).backward()
try:
    flat = x.view(-1)
except RuntimeError:
    flat = x.reshape(-1)
