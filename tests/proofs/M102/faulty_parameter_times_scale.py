# A Parameter that an operation turned into an ordinary tensor.
# line: 11
import torch
from torch import nn


class Scaled(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, n)
        self.gain = nn.Parameter(torch.ones(n)).double()

    def forward(self, x):
        return self.fc(x) * self.gain.float()


torch.manual_seed(0)
x = torch.randn(32, 4)
net = Scaled(4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(12):
    opt.zero_grad()
    loss = (net(x) - 2 * x).pow(2).mean()
    loss.backward()
    opt.step()
