# line: 18
# also: M108
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.score, self.head = nn.Embedding(30, 16), nn.Linear(16, 1), nn.Linear(16, 3)

    def forward(self, ids):
        h = self.embed(ids)
        score = self.score(torch.tanh(h))
        weights = torch.exp(score)
        weights = weights / weights.sum(0, keepdim=True)
        return self.head((weights * h).sum(1))


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
