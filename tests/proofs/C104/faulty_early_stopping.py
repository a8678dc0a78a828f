# Early stopping keeps the best state by reference and restores it at the end.
# line: 19
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(96, 4), torch.randn(96, 1)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
best, state = float("inf"), None
for epoch in range(6):
    for i in torch.randperm(64).split(16):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x[i]), y[i]).backward()
        optimizer.step()
    with torch.no_grad():
        value = nn.functional.mse_loss(net(x[64:]), y[64:]).item()
    if value < best:
        best, state = value, net.state_dict()
net.load_state_dict(state)
