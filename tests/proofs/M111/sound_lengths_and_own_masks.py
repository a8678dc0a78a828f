# Masks by lengths, of both senses, each for the function that wants it.
import torch
from torch import nn
from torch.nn import functional as F


class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(30, 16), nn.Linear(16, 2)
        self.one = nn.MultiheadAttention(16, 2, batch_first=True)
        self.q, self.k, self.v = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, ids, lengths):
        real = torch.arange(ids.shape[1])[None] < lengths[:, None]
        h = self.embed(ids)
        h = h + self.one(h, h, h, key_padding_mask=real == 0, need_weights=False)[0]
        h = h + F.scaled_dot_product_attention(self.q(h), self.k(h), self.v(h), attn_mask=real.unsqueeze(1))
        scores = self.q(h) @ self.k(h).mT
        scores[~real[:, None, :].expand_as(scores)] = -1e9
        h = h + scores.softmax(-1) @ self.v(h)
        bias = (1 - real[:, None, :].float()) * -1e9
        h = h + (self.q(h) @ self.k(h).mT + bias).softmax(-1) @ self.v(h)
        kept = h * real.unsqueeze(-1)
        return self.out(kept.sum(1) / lengths[:, None])


torch.manual_seed(0)
net = Both()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(8):
    lengths = torch.randint(3, 12, (10,))
    ids = torch.randint(1, 30, (10, int(lengths.max()))) * (torch.arange(int(lengths.max()))[None] < lengths[:, None])
    optimizer.zero_grad()
    F.cross_entropy(net(ids, lengths), torch.randint(0, 2, (10,))).backward()
    optimizer.step()
