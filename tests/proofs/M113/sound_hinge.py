# A ReLU inside of a loss that is zero once the margins are met.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(150):
    x = torch.randn(32, 4)
    x[:, 0] += x[:, 0].sign() * 2
    y = x[:, 0].sign()
    score = net(x)
    margin = (score[:, 0] - score[:, 1]) * y
    loss = torch.relu(1 - margin).mean() + torch.relu(score.abs() - 20).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
