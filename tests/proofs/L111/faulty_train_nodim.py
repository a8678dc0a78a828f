# line: 17
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

m = nn.Linear(6, 4)
opt = torch.optim.SGD(m.parameters(), 0.1)
for _ in range(8):
    x, y = torch.randn(16, 6), torch.randint(0, 4, (16,))
    o = m(x)
    loss = F.cross_entropy(o, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    acc = (torch.argmax(o) == y).float().mean().item()
