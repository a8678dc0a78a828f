# line: 11
import torch
from torch import nn

torch.manual_seed(0)
conv, out = nn.Conv1d(6, 16, 3), nn.Linear(16, 3)
optimizer = torch.optim.Adam([*conv.parameters(), *out.parameters()])
for step in range(8):
    x = torch.randn(12, 24, 6)
    maps = torch.relu(conv(x.transpose(1, 2)))
    steps = maps.view(12, 22, 16)
    loss = nn.functional.cross_entropy(out(steps).mean(1), torch.randint(0, 3, (12,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
