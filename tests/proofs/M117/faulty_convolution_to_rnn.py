# line: 17
# also: M107
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.rnn = nn.Conv1d(3, 16, 3, padding=1), nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        h = torch.relu(self.conv(x))
        h = h.view(h.size(0), h.size(2), h.size(1))
        return self.head(self.rnn(h)[0][:, -1])


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 3, 32), torch.randint(0, 3, (64,))), batch_size=8, shuffle=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
