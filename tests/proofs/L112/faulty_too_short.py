# Five steps in time for targets of up to eight labels.
# line: 15
# also: A110
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(8, 6)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for _ in range(6):
    x = torch.randn(5, 4, 8)
    targets = torch.randint(1, 6, (4, 8))
    lengths = torch.tensor([2, 8, 3, 2])
    loss = F.ctc_loss(net(x).log_softmax(2), targets, torch.full((4,), 5), lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
