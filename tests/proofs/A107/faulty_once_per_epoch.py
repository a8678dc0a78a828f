# One forward per epoch on the whole validation set.
# line: 9
import torch
from torch import nn


def evaluate(model, x, y):
    model.eval()
    logits = model(x)
    model.train()
    return (logits.argmax(dim=1) == y).float().mean().item()


torch.manual_seed(0)
x, y = torch.randn(96, 4), torch.randint(0, 2, (96,))
model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    for idx in torch.randperm(64).split(16):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[idx]), y[idx]).backward()
        optimizer.step()
    print(epoch, evaluate(model, x[64:], y[64:]))
