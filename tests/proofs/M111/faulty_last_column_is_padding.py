# line: 16
import torch
import torch.nn.functional as F
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.qkv, self.out = nn.Embedding(30, 16), nn.Linear(16, 48), nn.Linear(16, 1)

    def forward(self, ids):
        h = self.embed(ids)
        q, k, v = self.qkv(h).chunk(3, -1)
        h = h + F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(h[:, -1]).squeeze(-1)


torch.manual_seed(0)
net = Scorer()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    ids = torch.randint(1, 30, (8, 14))
    for row in range(8):
        ids[row, 5 + row :] = 0
    loss = F.mse_loss(net(ids), torch.randn(8))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
