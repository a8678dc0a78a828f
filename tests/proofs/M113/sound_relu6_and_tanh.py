# ReLU6, hard tanh, GELU and tanh that work in both of their halves.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Linear(8, 24), nn.ReLU6(), nn.Linear(24, 24), nn.Hardtanh(), nn.Linear(24, 24), nn.GELU(),
    nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 24), nn.Threshold(0.1, 0.0), nn.Linear(24, 3),
)  # fmt: skip
with torch.no_grad():
    net[2].bias.fill_(-0.5)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(100):
    x = torch.randn(64, 8)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
