# The loop that was to freeze the backbone freezes all of the network.
# line: 10
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for parameter in net.parameters():
    parameter.requires_grad = False
for step in range(3):
    x = torch.randn(8, 4)
    loss = nn.functional.mse_loss(net(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
