# line: 20
# also: D107
# Pixels from 0 to 255 go into a fresh network.
import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def step(net: Net, optimizer: torch.optim.Optimizer, x: torch.Tensor, y: torch.Tensor) -> float:
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
for _ in range(12):
    y = torch.randint(0, 10, (32,))
    x = torch.randint(0, 200, (32, 8, 8)).float()
    x.view(32, 64)[torch.arange(32), y] = 255.0
    step(net, optimizer, x, y)
