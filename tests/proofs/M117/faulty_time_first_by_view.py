# line: 16
# also: M107
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.rnn, self.head = nn.Embedding(20, 16), nn.GRU(16, 16), nn.Linear(16, 3)

    def forward(self, ids):
        B, T = ids.shape
        h = self.embed(ids).view(T, B, 16)
        return self.head(self.rnn(h)[0][-1])


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
