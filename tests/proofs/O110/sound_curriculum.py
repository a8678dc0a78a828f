# The task gets harder as training goes on, so the loss grows; updates are small.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
for step in range(150):
    scale = 1 + step // 10
    x = torch.randn(32, 4) * scale
    loss = nn.functional.mse_loss(net(x).squeeze(1), x.pow(2).sum(1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
