# Positive inputs around fifteen: one step of Adam at 0.3 moves what every unit gets by far more than it was.
# line: 11
# also: O110, D107
import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(512, 20) * 30
y = x[:, :4].argmax(1)
net = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=0.3)
for step in range(120):
    rows = torch.randint(0, 512, (32,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
    optimizer.step()
