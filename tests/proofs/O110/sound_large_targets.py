# Prices in the hundred thousands: the first loss is huge and falls, the last layer grows by bold steps.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.5)
for step in range(150):
    x = torch.rand(64, 5)
    price = 2e5 + 1e5 * x[:, 0]
    loss = nn.functional.mse_loss(net(x).squeeze(1), price)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
