# The mean over batches of a mean loss.
# line: 16
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


def evaluate(m, loader, criterion):
    m.eval()
    total = 0.0
    with torch.no_grad():
        for x, y in loader:
            total += criterion(m(x), y).item()

    m.train()

    return total / len(loader)


x = torch.randn(100, 5)
y = (x[:, 0] > 0).long()
m = nn.Linear(5, 2)
o = torch.optim.SGD(m.parameters(), 0.1)
for _ in range(5):
    o.zero_grad()
    F.cross_entropy(m(x), y).backward()
    o.step()
    print(evaluate(m, DataLoader(TensorDataset(x, y), batch_size=32), nn.CrossEntropyLoss()))
