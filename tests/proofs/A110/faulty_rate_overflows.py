# A Poisson likelihood with its rate as exp of the output: one large input and it is infinite.
# line: 16
# also: L113
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
x = torch.randn(640, 3)
x[637], x[411] = 5000.0, -5000.0
counts = torch.poisson(x[:, 0].abs() + 1)
for first in range(0, 640, 16):
    part = slice(first, first + 16)
    log_rate = net(x[part]).squeeze(1)
    rate = torch.exp(log_rate)
    loss = (rate - counts[part] * log_rate).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
