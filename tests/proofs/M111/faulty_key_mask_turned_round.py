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
        self.embed, self.head = nn.Embedding(20, 16, padding_idx=0), nn.Linear(16, 3)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)

    def forward(self, ids):
        mask = ids != 0
        h = self.encoder(self.embed(ids), src_key_padding_mask=mask)
        keep = mask.unsqueeze(-1)
        return self.head(h.masked_fill(~keep, 0.0).sum(1) / keep.sum(1))


torch.manual_seed(0)
model = Model()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    ids, _, y = batch()
    ids = torch.cat([ids, ids.new_zeros(len(ids), 1)], 1)
    loss = F.cross_entropy(model(ids), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
