# The norm of the gradient decides whether the step is taken.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(6, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(40):
    x = torch.randn(8, 6)
    h = net(x)
    if step % 5 == 4:
        h = h * 0
    loss = (h.pow(2).sum(1).sqrt() - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    if torch.isfinite(norm):
        optimizer.step()
