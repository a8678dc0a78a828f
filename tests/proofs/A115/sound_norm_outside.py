# BatchNorm outside of the checkpointed part, and a frozen one in evaluation mode inside.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.body = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, x):
        h = self.norm(self.stem(x))
        return self.head(checkpoint(self.body, h, use_reentrant=False).mean((2, 3)))


torch.manual_seed(0)
net = Net().train()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(10):
    x = torch.randn(8, 1, 6, 6)
    loss = nn.functional.cross_entropy(net(x), (x.mean((1, 2, 3)) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
