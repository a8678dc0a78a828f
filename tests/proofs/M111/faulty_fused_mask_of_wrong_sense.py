# line: 16
import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.qkv, self.out = nn.Embedding(50, 32), nn.Linear(32, 96), nn.Linear(32, 4)

    def forward(self, ids):
        pad = ids == 0
        b, t = ids.shape
        q, k, v = self.qkv(self.embed(ids)).view(b, t, 3, 4, 8).permute(2, 0, 3, 1, 4)
        h = F.scaled_dot_product_attention(q, k, v, attn_mask=pad[:, None, None, :])
        h = h.transpose(1, 2).reshape(b, t, 32)
        return self.out(h[:, 0])


torch.manual_seed(0)
net = Encoder()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    ids = torch.randint(1, 50, (8, 16))
    for row, length in enumerate([15, 9, 12, 6, 14, 13, 10, 8]):
        ids[row, length:] = 0
    loss = F.cross_entropy(net(ids), torch.randint(0, 4, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
