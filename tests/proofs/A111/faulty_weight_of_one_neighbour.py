# line: 19
# Attention weights over neighbours are normalised by hand, and there is one neighbour only.
import torch
from torch import nn


class Neighbours(nn.Module):
    def __init__(self, dim: int, k: int) -> None:
        super().__init__()
        self.k = k
        self.score, self.value = nn.Linear(dim, 1), nn.Linear(dim, dim)
        self.embed, self.out = nn.Linear(6, dim), nn.Linear(dim, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.embed(x))
        nearest = torch.cdist(h, h).fill_diagonal_(float("inf")).topk(self.k, largest=False).indices
        near = h[nearest]
        weight = torch.exp(self.score(near))
        weight = weight / weight.sum(1, keepdim=True)
        return self.out(h + (weight * self.value(near)).sum(1))


torch.manual_seed(0)
net = Neighbours(16, k=1)
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for _ in range(40):
    x = torch.randn(48, 6)
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
