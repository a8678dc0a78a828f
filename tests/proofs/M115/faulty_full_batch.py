# Full-batch training with one evaluation per step on a fixed test set, functional dropout.
# line: 27
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 16), nn.Linear(16, 2)

    def forward(self, x):
        return self.b(F.dropout(F.relu(self.a(x)), 0.5, training=self.training))


torch.manual_seed(0)
x, y = torch.randn(64, 6), torch.randint(0, 2, (64,))
test_x, test_y = torch.randn(32, 6), torch.randint(0, 2, (32,))
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(12):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
    with torch.no_grad():
        right = (net(test_x).argmax(1) == test_y).float().mean()
    print(step, right.item())
