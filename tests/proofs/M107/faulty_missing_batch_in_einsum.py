# line: 17
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.query, self.head = nn.Embedding(30, 16), nn.Linear(16, 16), nn.Linear(16, 3)

    def forward(self, ids):
        h = self.embed(ids)
        query = self.query(h[:, 0])
        weights = torch.einsum("bd,btd->bt", query, h).softmax(-1)
        return self.head(torch.einsum("bt,ctd->bd", weights, h))


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randint(0, 30, (96, 9)), torch.randint(0, 3, (96,))), 12, shuffle=True)
model = Pool()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(1):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
