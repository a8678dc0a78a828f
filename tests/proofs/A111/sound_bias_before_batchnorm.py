# Biases before BatchNorm get rounding noise, and gains that start at zero get nothing at first.
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)
        nn.init.zeros_(self.norm.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.relu(self.norm(self.conv(x)))


torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(1, 8, 3), *[Block(8) for _ in range(6)], nn.AdaptiveAvgPool2d(1), nn.Flatten())
head = nn.Linear(8, 2)
optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=1e-3)
for _ in range(20):
    x = torch.randn(8, 1, 10, 10)
    loss = nn.functional.cross_entropy(head(net(x)), (x.mean((1, 2, 3)) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
