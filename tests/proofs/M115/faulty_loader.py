# Functions: validation over its own loader, nobody calls eval().
# line: 26
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def data(n):
    x = torch.randn(n, 6)
    return TensorDataset(x, (x[:, 0] > 0).long())


def train(model, loader, optimizer):
    model.train()
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def accuracy(model, loader):
    right = total = 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x).argmax(dim=1) == y).sum().item()
            total += len(y)
    return right / total


torch.manual_seed(0)
train_loader = DataLoader(data(96), batch_size=16, shuffle=True)
val_loader = DataLoader(data(48), batch_size=16)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.4), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    train(model, train_loader, optimizer)
    print(epoch, accuracy(model, val_loader))
