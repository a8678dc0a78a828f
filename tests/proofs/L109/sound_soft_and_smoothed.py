# Soft targets, smoothed ones a little outside of [0, 1], class probabilities.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net, many = nn.Linear(16, 1), nn.Linear(16, 4)
optimizer = torch.optim.Adam([*net.parameters(), *many.parameters()], lr=1e-3)
for _ in range(10):
    x = torch.randn(32, 16)
    soft = (x[:, :1] > 0).float() * 1.2 - 0.1
    loss = F.binary_cross_entropy_with_logits(net(x), soft)
    loss = loss + F.cross_entropy(many(x), F.one_hot(torch.randint(4, (32,)), 4).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
