# (N, 1) against (N, 1), a weight per sample, a mean that is taken away, a batch of one.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(5, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
weight = torch.rand(16, 1)
for step in range(12):
    size = 1 if step % 4 == 3 else 16
    x = torch.randn(size, 5)
    y = x.sum(1)
    guess = net(x)
    loss = (weight[:size] * (guess - y.unsqueeze(1)) ** 2).mean() + F.mse_loss(guess.view(-1), y)
    loss = loss + ((guess - y.mean()) ** 2).mean() * 0.01
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
