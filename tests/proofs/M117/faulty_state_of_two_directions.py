# line: 17
# also: M107
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(20, 16), nn.Linear(32, 3)
        self.rnn = nn.LSTM(16, 16, batch_first=True, bidirectional=True)

    def forward(self, ids):
        _, (h, _) = self.rnn(self.embed(ids))
        return self.head(h.view(ids.size(0), -1))


torch.manual_seed(0)
loader = DataLoader(
    TensorDataset(torch.randint(0, 20, (64, 10)), torch.randint(0, 3, (64,))), batch_size=8, shuffle=True
)
model = Net()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
