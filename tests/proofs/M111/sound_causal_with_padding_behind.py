import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.qkv, self.out = nn.Embedding(40, 16), nn.Linear(16, 48), nn.Linear(16, 40)

    def forward(self, ids):
        h = self.embed(ids)
        q, k, v = self.qkv(h).chunk(3, -1)
        return self.out(h + F.scaled_dot_product_attention(q, k, v, is_causal=True))


torch.manual_seed(0)
net = Model()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    ids = torch.randint(1, 40, (6, 15))
    for row, length in enumerate([15, 9, 12, 6, 14, 10]):
        ids[row, length:] = 0
    loss = F.cross_entropy(net(ids[:, :-1]).transpose(1, 2), ids[:, 1:], ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
