# The loss is computed from the targets by mistake: nothing of the network is in it.
# line: 12
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
optimizer = torch.optim.Adam(net.parameters())
for step in range(3):
    x, y = torch.randn(8, 4), torch.randn(8, 2)
    prediction = net(x)
    loss = nn.functional.l1_loss(y.clone(), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
