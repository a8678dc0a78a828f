# line: 22, 23
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence


def batch(n=8):
    lengths = torch.randint(3, 12, (n,)).tolist()
    ids = pad_sequence([torch.randint(1, 20, (k,)) for k in lengths], batch_first=True)
    return ids, torch.tensor(lengths), torch.randint(0, 3, (n,))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.qkv, self.head = nn.Embedding(20, 16), nn.Linear(16, 48), nn.Linear(16, 3)

    def forward(self, ids, lengths):
        B, T = ids.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.qkv(self.embed(ids)).chunk(3, dim=-1))
        mask = torch.arange(T)[None] >= lengths[:, None]
        h = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None])
        return self.head(h.transpose(1, 2).flatten(2)[:, 0])


torch.manual_seed(0)
model = Model()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids, lengths, y = batch()
    ids = F.pad(ids, (0, 2))
    loss = F.cross_entropy(model(ids, lengths), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
