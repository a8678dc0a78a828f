import torch
from torch import nn


class Standardise(nn.Module):
    def forward(self, x):
        return (x - x.mean(0)) / (x.std(0) + 1e-5)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(9, 32), Standardise(), nn.ReLU(), nn.Linear(32, 3))

    def forward(self, x):
        return self.net(x)


torch.manual_seed(0)
centers = torch.randn(3, 9) * 2
y = torch.randint(0, 3, (900,))
x = centers[y] + torch.randn(900, 9)
model = Scorer()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    model.train()
    for i in torch.randperm(800).split(40):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[i]), y[i])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        print(epoch, (model(x[800:]).argmax(1) == y[800:]).float().mean().item())
