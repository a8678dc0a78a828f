import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.hidden, self.hidden_norm = nn.Linear(8, 8), nn.BatchNorm1d(8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        h = torch.relu(self.norm(self.conv(x))).mean((2, 3))
        h = torch.relu(self.hidden_norm(self.hidden(h)))
        h = (h - h.mean(0, keepdim=True)) / (h.std(0, keepdim=True) + 1e-5)
        return self.head(h)


loader = DataLoader(TensorDataset(torch.randn(96, 3, 6, 6), torch.randint(0, 3, (96,))), 12, shuffle=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(1):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
