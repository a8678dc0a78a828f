# line: 22, 23, 24
# source: silent, the attention is written by hand
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
        self.embed, self.qkv, self.head = nn.Embedding(20, 16, padding_idx=0), nn.Linear(16, 48), nn.Linear(16, 3)

    def forward(self, ids):
        q, k, v = self.qkv(self.embed(ids)).chunk(3, dim=-1)
        score = q @ k.transpose(1, 2) / 4
        weights = score.softmax(-1)
        return self.head((weights @ v)[:, 0])


torch.manual_seed(0)
model = Model()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids, _, y = batch()
    loss = F.cross_entropy(model(ids), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
