# line: 6
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv1d(3, 16, 5, padding=2), nn.ReLU(), nn.Conv1d(16, 3, 5, padding="same"))
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    series = torch.randn(6, 3, 21).cumsum(-1)
    past, following = series[:, :, :-1], series[:, :, 1:]
    loss = nn.functional.mse_loss(net(past), following)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
