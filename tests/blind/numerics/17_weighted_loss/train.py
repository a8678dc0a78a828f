import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
weights = torch.tensor([1.0, 12.0, 30.0])


def focal(logits, y, gamma=2.0):
    ce = F.cross_entropy(logits, y, reduction="none", weight=weights)
    p = torch.exp(-F.cross_entropy(logits, y, reduction="none"))
    return (((1 - p) ** gamma) * ce).mean()


y = torch.multinomial(torch.tensor([0.9, 0.07, 0.03]), 1000, replacement=True)
x = torch.randn(1000, 7) + 1.5 * F.one_hot(y, 7)
net = nn.Sequential(nn.Linear(7, 24), nn.SELU(), nn.Linear(24, 3))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(100):
    i = torch.randint(0, 1000, (64,))
    loss = focal(net(x[i]), y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
