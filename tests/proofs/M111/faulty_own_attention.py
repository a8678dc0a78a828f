# line: 20, 21
# source: silent, the attention is written by hand and the ids are padded by writing into them
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)
        self.heads = heads

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        return (weights @ v).transpose(1, 2).flatten(2)


torch.manual_seed(0)
embed = nn.Embedding(26, 20, padding_idx=25)
attention, out = SelfAttention(20, 5), nn.Linear(20, 1)
optimizer = torch.optim.Adam([*embed.parameters(), *attention.parameters(), *out.parameters()])
for step in range(8):
    ids = torch.randint(0, 25, (12, 11))
    for row in range(12):
        ids[row, 3 + (row * 5 + step) % 9 :] = 25
    h = attention(embed(ids))
    loss = nn.functional.mse_loss(out(h[:, 0]).squeeze(1), torch.randn(12))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
