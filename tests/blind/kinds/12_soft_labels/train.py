import torch
from torch import nn


class Mixup:
    def __init__(self, alpha=0.4, classes=4):
        self.beta = torch.distributions.Beta(alpha, alpha)
        self.classes = classes

    def __call__(self, x, y):
        lam = self.beta.sample()
        perm = torch.randperm(len(x))
        onehot = nn.functional.one_hot(y, self.classes).float()
        return lam * x + (1 - lam) * x[perm], lam * onehot + (1 - lam) * onehot[perm]


torch.manual_seed(0)
centers = 2 * torch.randn(4, 12)
y = torch.randint(0, 4, (800,))
x = centers[y] + torch.randn(800, 12)
model = nn.Sequential(nn.Linear(12, 48), nn.GELU(), nn.Linear(48, 4))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
mix, criterion = Mixup(), nn.CrossEntropyLoss()
for epoch in range(4):
    for idx in torch.randperm(800).split(40):
        mixed, soft = mix(x[idx], y[idx])
        loss = criterion(model(mixed), soft)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{epoch} {loss.item():.3f}")
