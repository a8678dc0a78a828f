# The network is compiled for every batch.
# line: 11
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    x = torch.randn(8, 4)
    loss = torch.compile(net, backend="eager")(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
