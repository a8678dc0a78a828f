# BatchNorm in a checkpointed block, reentrant variant: two updates of its statistics in each step.
# line: 27
import torch
import torch.utils.checkpoint
from torch import nn


class Stage(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 1)
        self.stages = nn.ModuleList([Stage(4, 6), Stage(6, 6)])
        self.head = nn.Linear(6, 2)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = torch.utils.checkpoint.checkpoint(stage, x, use_reentrant=True)
        return self.head(x.mean((2, 3)))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(10):
    x = torch.randn(8, 1, 6, 6)
    loss = nn.functional.cross_entropy(net(x), (x.mean((1, 2, 3)) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
