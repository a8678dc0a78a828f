import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)

m = nn.Linear(6, 1)
opt = torch.optim.SGD(m.parameters(), 0.01)
for _ in range(8):
    x = torch.randn(16, 6)
    y = x.sum(1)
    s = m(x)
    k = torch.exp(-((s - s.t()) ** 2))
    mmd = k.mean()
    margin = F.relu(1 - (s - s.detach().view(1, -1)) * torch.sign(y[:, None] - y)).mean()
    centers = torch.linspace(-1, 1, 16)
    rbf = torch.exp(-((s - centers) ** 2)).mean()
    opt.zero_grad()
    (mmd + margin - rbf).backward()
    opt.step()
