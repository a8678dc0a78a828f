# A hand-written Huber loss.
# line: 13
import torch
from torch import nn

torch.manual_seed(0)
m = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
o = torch.optim.Adam(m.parameters(), 1e-2)
for _ in range(30):
    x = torch.randn(16, 3)
    y = x.sum(1)
    pred = m(x)
    err = torch.abs(y - pred)
    loss = torch.where(err < 1, 0.5 * err.pow(2), err - 0.5).mean()
    o.zero_grad()
    loss.backward()
    o.step()
