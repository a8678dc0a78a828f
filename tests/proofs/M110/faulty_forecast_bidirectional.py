# line: 9
import torch
from torch import nn


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(2, 16, batch_first=True, bidirectional=True)
        self.out = nn.Linear(32, 2)

    def forward(self, x):
        return self.out(self.gru(x)[0])


torch.manual_seed(0)
net = Forecast()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    walk = torch.randn(5, 16, 2).cumsum(1)
    loss = nn.functional.smooth_l1_loss(net(walk[:, :-1]), walk[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
