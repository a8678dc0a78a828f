# line: 16, 17
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(25, 16), nn.Linear(16, 25)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, ids):
        h = self.embed(ids)
        mask = torch.tril(torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool))
        mixed, _ = self.attention(h, h, h, attn_mask=mask, need_weights=False)
        return self.head(mixed)


torch.manual_seed(0)
text = torch.randint(0, 25, (60, 13))
loader = DataLoader(TensorDataset(text[:, :-1], text[:, 1:]), batch_size=6, shuffle=True)
model = Model()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    loss = F.cross_entropy(model(x).transpose(1, 2), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
