# Fine-tuning with frozen statistics: evaluation mode from the start, and by an own train().
import torch
from torch import nn


class Frozen(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body, self.head = body, nn.Linear(16, 1)

    def train(self, mode=True):
        super().train(mode)
        self.body.eval()
        return self

    def forward(self, x):
        return self.head(self.body(x))


torch.manual_seed(0)
x, y, xv, yv = torch.randn(64, 4), torch.randn(64, 1), torch.randn(32, 4), torch.randn(32, 1)
for wrap in (False, True):
    body = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU())
    model = Frozen(body) if wrap else nn.Sequential(body, nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    if not wrap:
        model.eval()
    for epoch in range(6):
        if wrap:
            model.train()
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        if wrap:
            model.eval()
        with torch.no_grad():
            print(epoch, nn.functional.mse_loss(model(xv), yv).item())
