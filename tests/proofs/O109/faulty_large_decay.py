# Adam with AdamW's decay.
# line: 7
import torch
from torch import nn

net = nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=0.05)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
