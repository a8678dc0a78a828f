# line: 16
# source: silent, the rows may as well be the nodes of one graph
import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 24)
        self.norm = nn.BatchNorm1d(24)
        self.out = nn.Linear(24, 5)

    def forward(self, x):
        h = self.inner(x)
        h = h * torch.softmax(h, 0)
        return self.out(torch.relu(self.norm(h)))


torch.manual_seed(1)
net = Gate()
optimizer = torch.optim.Adam(net.parameters())
criterion = nn.CrossEntropyLoss()
for step in range(12):
    x, y = torch.randn(40, 8), torch.randint(0, 5, (40,))
    optimizer.zero_grad()
    criterion(net(x), y).backward()
    optimizer.step()
