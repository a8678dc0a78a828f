# The mean of batch accuracies, with a last batch of four.
# line: 22
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

x = torch.randn(100, 4)
y = (x[:, 0] > 0).long()
train, test = TensorDataset(x[:64], y[:64]), TensorDataset(x[64:], y[64:])
net = nn.Linear(4, 2)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)


def accuracy(loader):
    net.eval()
    total = 0.0
    with torch.no_grad():
        for features, label in loader:
            total += (net(features).argmax(1) == label).float().mean().item()
    net.train()
    return total / len(loader)


for _ in range(4):
    for features, label in DataLoader(train, batch_size=16, shuffle=True):
        optimizer.zero_grad()
        F.cross_entropy(net(features), label).backward()
        optimizer.step()
    print(accuracy(DataLoader(test, batch_size=16)))
