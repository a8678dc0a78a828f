# Attention pooling that normalises over the batch.
# line: 17
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.out = nn.Linear(6, 1), nn.Linear(6, 2)

    def forward(self, x):
        weight = torch.softmax(self.score(x).squeeze(-1), dim=0)
        return self.out((weight.unsqueeze(-1) * x).sum(1))


x = torch.randn(64, 9, 6)
loader = DataLoader(TensorDataset(x, (x[:, 0, 0] > 0).long()), batch_size=16, shuffle=True)
pool = Pool()
optimizer = torch.optim.Adam(pool.parameters(), lr=1e-2)
for _ in range(4):
    for inputs, label in loader:
        optimizer.zero_grad()
        F.cross_entropy(pool(inputs), label).backward()
        optimizer.step()
