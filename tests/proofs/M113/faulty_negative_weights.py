# Weights that are all negative, before inputs that are all positive.
# line: 10
import torch
from torch import nn


class Regressor(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.inner = nn.Conv1d(2, width, 3)
        nn.init.uniform_(self.inner.weight, -1.0, -0.1)
        self.outer = nn.Linear(width, 1)

    def forward(self, x):
        return self.outer(self.inner(x).clamp(min=0).mean(-1)).squeeze(-1)


torch.manual_seed(0)
model = Regressor()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(100):
    x = torch.rand(16, 2, 9) + 0.5
    loss = nn.functional.l1_loss(model(x), x.mean((1, 2)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
