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
        self.embed, self.qkv, self.head = nn.Embedding(20, 16, padding_idx=0), nn.Linear(16, 48), nn.Linear(16, 20)

    def forward(self, ids):
        B, T = ids.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.qkv(self.embed(ids)).chunk(3, dim=-1))
        h = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.head(h.transpose(1, 2).flatten(2))


torch.manual_seed(0)
model = Model()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids = batch()[0]
    loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
    opt.zero_grad()
    loss.backward()
    opt.step()
