# Script: F.dropout with its default, evaluated under no_grad.
# line: 15
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(4, 16), nn.Linear(16, 1)

    def forward(self, x):
        h = F.relu(self.hidden(x))
        h = F.dropout(h, 0.3)
        return self.out(h)


torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(5):
    net.train()
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
net.eval()
with torch.no_grad():
    print(F.mse_loss(net(x), y).item())
