# line: 16
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.norm, self.mlp = nn.LayerNorm(dim), nn.Linear(dim, dim)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v)
        x = x + y.transpose(1, 2).flatten(2)
        return x + self.mlp(self.norm(x))


torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(25, 16), Block(), Block(), nn.Linear(16, 25))
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids = torch.randint(0, 25, (6, 12))
    logits = model(ids)[:, :-1]
    loss = F.cross_entropy(logits.reshape(-1, 25), ids[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
