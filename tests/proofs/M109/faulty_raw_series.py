# line: 12
# also: M107
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 16, num_layers=2)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out[:, -1])


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 10, 4), torch.randn(96, 1)), batch_size=12, shuffle=True)
model = Forecaster()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(1):
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
