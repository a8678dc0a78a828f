# The network is made double because NumPy's arrays are.
# line: 10
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
x = torch.from_numpy(rng.normal(size=(64, 4)))
y = torch.from_numpy(rng.uniform(size=(64, 1)))
net = nn.Linear(4, 1).double()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
