# line: 13
# also: M107
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.attention = nn.MultiheadAttention(16, 2)
        self.head = nn.Linear(16, 5)

    def forward(self, ids):
        h = self.embed(ids)
        mixed, _ = self.attention(h, h, h)
        return self.head(h + mixed)


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randint(0, 30, (96, 9)), torch.randint(0, 5, (96, 9))), 12, shuffle=True)
model = Tagger()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(1):
    for x, y in loader:
        loss = F.cross_entropy(model(x).transpose(1, 2), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
