import torch
from torch import nn


class Forecaster(nn.Module):
    def __init__(self, features=3, hidden=20):
        super().__init__()
        self.rnn = nn.GRU(features, hidden)
        self.out = nn.Linear(hidden, 1)

    def forward(self, series):
        h, _ = self.rnn(series)
        return self.out(h[:, -1])


def waves(n, length=15):
    phase = torch.rand(n, 1, 3) * 6.28
    t = torch.arange(length + 1.0)[None, :, None]
    x = torch.sin(0.5 * t + phase) + 0.05 * torch.randn(n, length + 1, 3)
    return x[:, :-1], x[:, -1:, 0]


torch.manual_seed(0)
x, y = waves(640)
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    for idx in torch.randperm(640).split(40):
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
