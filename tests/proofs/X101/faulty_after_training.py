# Traced right after training, dropout and all.
# line: 16
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.2), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(torch.randn(16, 4)), torch.randint(0, 2, (16,))).backward()
    optimizer.step()
traced = torch.jit.trace(net, torch.randn(4, 4), check_trace=False)
