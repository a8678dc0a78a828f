# A third of the units are dead from the start, as happens; the others do the work.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 30), nn.ReLU(), nn.Linear(30, 3))
with torch.no_grad():
    net[0].bias[:10] = -50.0
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(100):
    x = torch.randn(32, 8)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
