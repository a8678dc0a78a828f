# line: 17
# A convolutional network that checkpoints its first stage: the images require no grad.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Conv2d(6, 6, 3), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(6, 6, 3), nn.ReLU())
        self.head = nn.Linear(6, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            x = checkpoint(self.first, x, use_reentrant=True)
        else:
            x = self.first(x)
        return self.head(self.second(x).mean((2, 3)))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(48, 1, 12, 12), torch.randint(0, 3, (48,))
for i in range(12):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x[i * 4 : i * 4 + 4]), y[i * 4 : i * 4 + 4]).backward()
    optimizer.step()
