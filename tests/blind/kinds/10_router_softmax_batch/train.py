import torch
import torch.nn as nn


class SetPool(nn.Module):
    """Attention pooling over the members of a set."""

    def __init__(self, dim):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, 1))

    def forward(self, members):
        logits = self.score(members).squeeze(-1)
        weights = torch.softmax(logits, 0)
        return (weights.unsqueeze(-1) * members).sum(dim=1)


class SetNet(nn.Module):
    def __init__(self, features=6, dim=24, classes=3):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(features, dim), nn.ReLU())
        self.pool = SetPool(dim)
        self.rho = nn.Linear(dim, classes)

    def forward(self, sets):
        return self.rho(self.pool(self.phi(sets)))


def sets(n, size=7):
    x = torch.randn(n, size, 6)
    y = x[:, :, 0].max(1).values
    return x, torch.bucketize(y, torch.tensor([1.0, 1.6]))


torch.manual_seed(0)
x, y = sets(960)
net = SetNet()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(4):
    for idx in torch.randperm(960).split(48):
        loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
