# A chain in one line; the transposed matrix is flattened.
# line: 9
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Conv1d(3, 4, 1)
for step in range(2):
    loss = net(torch.randn(2, 3, 6)).relu().transpose(1, 2).view(2, 24).mean()
    loss.backward()
