# line: 14
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.gru, self.out = nn.Linear(4, 16), nn.GRU(16, 16), nn.Linear(16, 1)

    def forward(self, x):
        h = self.inner(x)
        h = h.view(x.size(1), x.size(0), -1)
        states, _ = self.gru(h)
        return self.out(states[-1])


torch.manual_seed(0)
net = Forecast()
optimizer = torch.optim.Adam(net.parameters())
for x, y in DataLoader(TensorDataset(torch.randn(256, 8, 4), torch.randn(256, 1)), 32, shuffle=True):
    optimizer.zero_grad()
    nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
