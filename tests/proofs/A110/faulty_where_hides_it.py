# torch.where takes the safe branch, but the gradient of the other one is 0 * NaN.
# line: 14
import torch
from torch import nn


class RootOfRate(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(5, 1)

    def forward(self, x):
        rate = self.net(x).squeeze(1)
        return torch.where(rate > 0, torch.sqrt(rate), torch.zeros_like(rate))


torch.manual_seed(0)
model = RootOfRate()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(12):
    x = torch.randn(32, 5)
    loss = (model(x) - x[:, 0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
