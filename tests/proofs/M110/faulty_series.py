# line: 16
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift, self.head = nn.Linear(2, 16), nn.Linear(16, 2)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)

    def forward(self, series):
        h = self.encoder(self.lift(series))
        return self.head(h)


torch.manual_seed(0)
series = torch.randn(60, 13, 2).cumsum(1)
loader = DataLoader(TensorDataset(series[:, :-1], series[:, 1:]), batch_size=6, shuffle=True)
model = Forecaster()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
