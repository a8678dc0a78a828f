# Double precision for a gradient check, and a default that is set on purpose.
import numpy as np
import torch
from torch import nn

torch.set_default_dtype(torch.float64)
net = nn.Linear(3, 1).double()
x = torch.from_numpy(np.random.normal(size=(4, 3))).requires_grad_()
torch.autograd.gradcheck(net, x)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(x.detach()).pow(2).mean().backward()
    optimizer.step()
