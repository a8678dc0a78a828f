# line: 15
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.reshape(b, 4, t, c // 4)
        k = k.reshape(b, t, 4, c // 4).transpose(1, 2)
        v = v.reshape(b, t, 4, c // 4).transpose(1, 2)
        return self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, c))


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 32), Attention(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    loss = net(torch.randn(5, 16, 6)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
