# line: 13
# also: M107
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 3)

    def forward(self, ids):
        h = self.embed(ids).permute(1, 0, 2)
        out, _ = self.rnn(h)
        return self.head(out[-1])


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randint(0, 30, (96, 9)), torch.randint(0, 3, (96,))), 12, shuffle=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(1):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
