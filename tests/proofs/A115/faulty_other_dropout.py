# The state of the random generator is not put back: backward sees another dropout mask than the loss did.
# line: 14
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Dropout(0.2), nn.Linear(4 * dim, dim))

    def forward(self, x):
        return x + checkpoint(self.inner, x, use_reentrant=False, preserve_rng_state=False)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), Block(8), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(12):
    x = torch.randn(16, 6)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
