# A batch whose loss is NaN is left out.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
m = nn.Linear(6, 4)
o = torch.optim.Adam(m.parameters(), 1e-2)
for i in range(40):
    x = torch.randn(8, 6)
    y = torch.randint(0, 4, (8,))
    if i % 5 == 2:
        y[:] = -100
    loss = F.cross_entropy(m(x), y)
    if torch.isnan(loss):
        continue
    o.zero_grad()
    loss.backward()
    o.step()
