import torch
from torch import nn


def pairwise(z):
    squared = (z.unsqueeze(1) - z.unsqueeze(0)).pow(2).sum(-1)
    return squared.sqrt()


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, x):
        return self.net(x)


def stress(model, x):
    return (pairwise(model(x)) - torch.cdist(x, x)).pow(2).mean()


torch.manual_seed(0)
data = torch.randn(400, 10)
model = Embedder()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(60):
    loss = stress(model, data[torch.randperm(400)[:32]])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("stress", loss.item())
