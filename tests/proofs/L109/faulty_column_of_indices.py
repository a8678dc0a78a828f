# Indices with an axis too many: torch refuses, and it is said why.
# line: 13
# also: A103
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(16, 4)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for _ in range(3):
    x, label = torch.randn(32, 16), torch.randint(4, (32, 1))
    loss = criterion(net(x), label)
    loss.backward()
    optimizer.step()
