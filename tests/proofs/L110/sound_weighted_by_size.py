# Losses weighted by the size of their batch.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(100, 5)
y = (x[:, 0] > 0).long()
m = nn.Linear(5, 2)
o = torch.optim.SGD(m.parameters(), 0.1)
crit = nn.CrossEntropyLoss()
dl = DataLoader(TensorDataset(x, y), batch_size=32)
for _ in range(5):
    for a, b in dl:
        o.zero_grad()
        crit(m(a), b).backward()
        o.step()
    total = acc = 0.0
    with torch.no_grad():
        for a, b in dl:
            out = m(a)
            loss = crit(out, b)
            total += loss.item() * len(b)
            acc += (out.argmax(1) == b).sum().item()
    print(total / len(dl.dataset), acc / len(dl.dataset))
