# The complement of a sigmoid has a name before its logarithm is taken.
# line: 14
import torch
from torch import nn

torch.manual_seed(0)
m = nn.Linear(3, 1)
o = torch.optim.Adam(m.parameters(), 1e-2)
for _ in range(30):
    x = torch.randn(16, 3)
    y = (x[:, :1] > 0).float()
    p = torch.sigmoid(m(x))
    q = 1.0 - p
    loss = -(y * p.clamp_min(1e-7).log() + (1 - y) * q.log()).mean()
    o.zero_grad()
    loss.backward()
    o.step()
