# Time enough for all, and zero_infinity where there is not.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(8, 6)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for _ in range(6):
    long, short = torch.randn(30, 4, 8), torch.randn(5, 4, 8)
    targets = torch.randint(1, 6, (4, 8))
    lengths = torch.tensor([2, 8, 3, 2])
    loss = F.ctc_loss(net(long).log_softmax(2), targets, torch.full((4,), 30), lengths)
    loss = loss + F.ctc_loss(net(short).log_softmax(2), targets, torch.full((4,), 5), lengths, zero_infinity=True)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
