# line: 9
# In-place arithmetic on an expanded tensor: torch refuses.
import torch
from torch import nn


def noisy(bias: torch.Tensor, n: int) -> torch.Tensor:
    rows = bias.expand(n, -1)
    rows.add_(0.01 * torch.randn(n, bias.shape[-1]))
    return rows


torch.manual_seed(0)
layer = nn.Linear(4, 3)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
start = torch.zeros(1, 4)
for _ in range(3):
    loss = layer(noisy(start, 8)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
