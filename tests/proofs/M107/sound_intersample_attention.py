import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Saint(nn.Module):
    """Attention between the rows of a table, as SAINT does on purpose."""

    def __init__(self, features=6, dim=8):
        super().__init__()
        self.embed = nn.Linear(1, dim)
        self.columns = nn.TransformerEncoderLayer(dim, 2, 16, batch_first=True)
        self.rows = nn.TransformerEncoderLayer(features * dim, 2, 16, batch_first=True)
        self.head = nn.Linear(features * dim, 3)

    def forward(self, x):
        h = self.columns(self.embed(x.unsqueeze(-1)))
        h = h.flatten(1).unsqueeze(0)
        return self.head(self.rows(h).squeeze(0))


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 6), torch.randint(0, 3, (96,))), batch_size=12, shuffle=True)
model = Saint()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(1):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
