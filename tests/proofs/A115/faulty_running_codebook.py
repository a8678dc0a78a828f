# line: 28
# A running average of features, kept in a buffer, moves twice as fast as written.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Centred(nn.Module):
    mean: torch.Tensor

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(dim))
        self.linear = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            self.mean.mul_(0.9).add_(x.detach().mean(0), alpha=0.1)
        return self.linear(x - self.mean)


torch.manual_seed(0)
inp, centred, out = nn.Linear(4, 8), Centred(8), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*inp.parameters(), *centred.parameters(), *out.parameters()], lr=1e-3)
for _ in range(10):
    x = torch.randn(32, 4)
    h = torch.tanh(inp(x))
    h = torch.tanh(checkpoint(centred, h, use_reentrant=False))
    loss = nn.functional.mse_loss(out(h), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
