# Arrays are turned to float32 on the way.
import numpy as np
import torch
from torch import nn

x = torch.from_numpy(np.random.normal(size=(32, 4))).float()
y = torch.tensor(np.random.normal(size=(32, 1)), dtype=torch.float32)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
