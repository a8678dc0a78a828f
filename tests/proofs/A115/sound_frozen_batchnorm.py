# BatchNorm in evaluation mode inside of a checkpointed backbone that is fine-tuned.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Backbone(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3)
        self.body = nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
        self.head = nn.Linear(4, 2)

    def train(self, mode: bool = True) -> "Backbone":
        super().train(mode)
        self.body[1].eval()
        return self

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(checkpoint(self.body, self.stem(x), use_reentrant=False).mean((2, 3)))


torch.manual_seed(0)
net = Backbone().train()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(10):
    x = torch.randn(8, 1, 8, 8)
    loss = nn.functional.cross_entropy(net(x), (x.mean((1, 2, 3)) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
