# A frozen part in the optimizer, one thawed later, one run under no_grad.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(6, 8)
        self.middle = nn.Linear(8, 8).requires_grad_(False)
        self.late = nn.Linear(8, 8).requires_grad_(False)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        with torch.no_grad():
            h = torch.relu(self.stem(x))
        return self.head(torch.relu(self.late(torch.relu(self.middle(h)))))


torch.manual_seed(0)
x, y = torch.randn(64, 6), torch.randint(0, 2, (64,))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(40):
    if step == 30:
        net.late.requires_grad_(True)
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
