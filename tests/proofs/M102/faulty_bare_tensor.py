# A learnable matrix as a bare tensor.
# line: 11
import torch
from torch import nn


class Cross(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.linear = nn.Linear(n, 1)
        self.mix = torch.randn(n, n, requires_grad=True)

    def forward(self, x):
        return self.linear(x @ self.mix)


torch.manual_seed(0)
x = torch.randn(64, 5)
model = Cross(5)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(20):
    opt.zero_grad()
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    loss.backward()
    opt.step()
