# A learning rate a thousand times too high: the loss grows until it is NaN.
# line: 8
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=5.0)
for step in range(30):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(net(x), x[:, :1] * 3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
