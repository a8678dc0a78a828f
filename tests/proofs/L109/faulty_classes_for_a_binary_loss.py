# Digits as targets of a binary loss.
# line: 12
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(16, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(10):
    x, digit = torch.randn(32, 16), torch.randint(10, (32,))
    loss = F.binary_cross_entropy_with_logits(net(x), digit.float().unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
