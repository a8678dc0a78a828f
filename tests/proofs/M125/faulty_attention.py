# Heads are merged with view after transpose.
# line: 16
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, 2, 4).permute(2, 0, 3, 1, 4)
        y = torch.softmax(q @ k.transpose(-2, -1) / 2, dim=-1) @ v
        y = y.transpose(1, 2)
        y = torch.tanh(y)
        return self.out(y.view(b, t, c))


torch.manual_seed(0)
net = Attention()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    net(torch.randn(2, 5, 8)).pow(2).mean().backward()
    optimizer.step()
