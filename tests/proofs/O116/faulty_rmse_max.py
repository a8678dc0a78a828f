# A root mean squared error computed by hand, maximised.
# line: 11, 19
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 6)
y = x.sum(1, keepdim=True)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.02)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=3)
for epoch in range(12):
    for batch in torch.randperm(300).split(30):
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x[batch]), y[batch]).backward()
        optimizer.step()
    with torch.no_grad():
        rmse = (net(x[300:]) - y[300:]).pow(2).mean().sqrt().item()
    scheduler.step(rmse)
