# fc1 is called in the place of fc2.
# line: 11
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 8)
        self.fc2 = nn.Linear(8, 8)
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc1(x))
        return self.out(x)


torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randint(0, 2, (64,))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(24):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
