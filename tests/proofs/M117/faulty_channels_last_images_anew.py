# line: 14
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = nn.Conv2d(3, 8, 3), nn.Linear(8, 3)

    def forward(self, x):
        x = x.view(-1, 3, 16, 16)
        return self.head(torch.relu(self.conv(x)).mean((2, 3)))


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.rand(64, 16, 16, 3), torch.randint(0, 3, (64,))), batch_size=8, shuffle=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
