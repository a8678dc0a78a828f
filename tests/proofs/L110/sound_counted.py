# Hits are counted; and means of batches that are all of one size.
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

x = torch.randn(100, 4)
y = (x[:, 0] > 0).long()
net = nn.Linear(4, 2)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


def accuracy(loader):
    hits = count = 0
    with torch.no_grad():
        for features, label in loader:
            hits += (net(features).argmax(1) == label).sum().item()
            count += len(label)
    return hits / count


@torch.no_grad()
def loss_of(loader):
    losses = []
    for features, label in loader:
        losses.append(F.cross_entropy(net(features), label, reduction="none").mean().item())
    return sum(losses) / len(losses)


for _ in range(4):
    for features, label in DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        F.cross_entropy(net(features), label).backward()
        optimizer.step()
    print(accuracy(DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)))
    print(loss_of(DataLoader(TensorDataset(x[68:], y[68:]), batch_size=16)))
    print(loss_of(DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16, drop_last=True)))
