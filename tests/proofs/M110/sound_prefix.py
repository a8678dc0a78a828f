import torch
import torch.nn.functional as F
from torch import nn

PREFIX = 6


class PrefixModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.qkv, self.out = nn.Embedding(40, 16), nn.Linear(16, 48), nn.Linear(16, 40)

    def forward(self, ids):
        h = self.embed(ids)
        q, k, v = self.qkv(h).chunk(3, -1)
        t = ids.shape[1]
        allowed = torch.ones(t, t, dtype=torch.bool).tril()
        allowed[:, :PREFIX] = True
        return self.out(h + F.scaled_dot_product_attention(q, k, v, attn_mask=allowed))


torch.manual_seed(0)
net = PrefixModel()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    ids = torch.randint(0, 40, (5, 18))
    x, y = ids[:, :-1], ids[:, 1:].clone()
    y[:, : PREFIX - 1] = -100
    loss = F.cross_entropy(net(x).reshape(-1, 40), y.reshape(-1), ignore_index=-100)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
