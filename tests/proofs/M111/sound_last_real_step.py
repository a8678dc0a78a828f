import torch
import torch.nn.functional as F
from torch import nn


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.qkv, self.out = nn.Embedding(30, 16, padding_idx=0), nn.Linear(16, 48), nn.Linear(16, 1)

    def forward(self, ids, front):
        h = self.embed(ids)
        q, k, v = self.qkv(h).chunk(3, -1)
        real = (ids != 0)[:, None, :] | torch.eye(ids.shape[1], dtype=torch.bool)
        h = h + F.scaled_dot_product_attention(q, k, v, attn_mask=real)
        last = h[:, -1] if front else h[torch.arange(len(ids)), (ids != 0).sum(1) - 1]
        return self.out(last).squeeze(-1)


torch.manual_seed(0)
net = Scorer()
optimizer = torch.optim.Adam(net.parameters())
for step in range(10):
    ids, front = torch.randint(1, 30, (8, 14)), step % 2 == 0
    for row in range(8):
        ids[row, 5 + row :] = 0
    loss = F.mse_loss(net(ids.flip(1) if front else ids, front), torch.randn(8))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
