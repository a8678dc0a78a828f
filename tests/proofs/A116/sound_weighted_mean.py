# reduction="none", weighted and reduced.
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(8, 4), torch.randint(0, 3, (8,))
    loss = (F.cross_entropy(net(x), y, reduction="none") * torch.rand(8)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
