# line: 16
import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.qkv, self.proj = nn.LayerNorm(24), nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.norm(x)).split(C, dim=2)
        q, k, v = (t.view(B, T, 4, 6).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v)
        return x + self.proj(y.transpose(1, 2).reshape(B, T, C))


torch.manual_seed(0)
net = nn.Sequential(nn.Embedding(50, 24), Block(), Block(), nn.Linear(24, 50))
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    ids = torch.randint(0, 50, (6, 17))
    logits = net(ids[:, :-1])
    loss = F.cross_entropy(logits.transpose(1, 2), ids[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
