# line: 17
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.mix = nn.Conv2d(3, 16, 4, 4), nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.conv, self.head = nn.Conv2d(16, 8, 3, padding=1), nn.Linear(8, 3)

    def forward(self, x):
        tokens = self.patch(x).flatten(2).transpose(1, 2)
        tokens = self.mix(tokens)
        h = tokens.reshape(-1, 16, 6, 6)
        return self.head(self.conv(h).mean((2, 3)))


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 3, 24, 24), torch.randint(0, 3, (64,))), batch_size=8, shuffle=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
