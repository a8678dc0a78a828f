import torch
from torch import nn


class Series(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.out = nn.LSTM(1, 12), nn.Linear(12, 1)

    def forward(self, x):
        states, _ = self.lstm(x.view(len(x), 1, -1))
        return self.out(states.view(len(x), -1)).squeeze(1)


torch.manual_seed(0)
wave = torch.sin(torch.arange(0, 30, 0.1))
net = Series()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(8):
    for start in range(0, 250, 50):
        x, y = wave[start : start + 40], wave[start + 40 + 1 : start + 81].flip(0)
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
