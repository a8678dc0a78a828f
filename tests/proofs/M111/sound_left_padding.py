import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence


def batch(n=8):
    lengths = torch.randint(3, 12, (n,)).tolist()
    ids = pad_sequence([torch.randint(1, 20, (k,)) for k in lengths], batch_first=True)
    return ids, torch.tensor(lengths), torch.randint(0, 3, (n,))


class Model(nn.Module):
    """Padding in front, causal and padding mask together: rows of padding itself see nothing."""

    def __init__(self):
        super().__init__()
        self.embed, self.qkv, self.head = nn.Embedding(20, 16, padding_idx=0), nn.Linear(16, 48), nn.Linear(16, 3)

    def forward(self, ids):
        B, T = ids.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.qkv(self.embed(ids)).chunk(3, dim=-1))
        seen = torch.ones(T, T, dtype=torch.bool).tril() & (ids != 0)[:, None, None]
        score = (q @ k.transpose(2, 3) / 3).masked_fill(~seen, torch.finfo(q.dtype).min)
        return self.head((score.softmax(-1) @ v).transpose(1, 2).flatten(2)[:, -1])


torch.manual_seed(0)
model = Model()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids, lengths, y = batch()
    ids = torch.stack([row.roll(len(row) - k) for row, k in zip(ids, lengths.tolist())])
    loss = F.cross_entropy(model(ids), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
