# Gradients given for a tensor of several elements; a caught failure; one element in two dimensions.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    out = net(torch.randn(8, 4))
    optimizer.zero_grad()
    out.backward(torch.ones_like(out) / out.numel())
    optimizer.step()
try:
    net(torch.randn(2, 4)).backward()
except RuntimeError:
    pass
optimizer.zero_grad()
(net(torch.randn(1, 4))[:, :1] ** 2).backward()
optimizer.step()
