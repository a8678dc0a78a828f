# requires_grad set on a module.
# line: 20
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(6, 12), nn.ReLU())
        self.head = nn.Linear(12, 2)

    def forward(self, x):
        return self.head(self.backbone(x))


torch.manual_seed(0)
x, y = torch.randn(64, 6), torch.randint(0, 2, (64,))
net = Net()
net.backbone.requires_grad = False
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(20):
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    opt.step()
