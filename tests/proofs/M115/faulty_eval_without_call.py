# model.eval without parentheses; the validation set is one tensor.
# line: 21
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(128, 6), torch.randn(128, 1)
xv, yv = torch.randn(64, 6), torch.randn(64, 1)
model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(4):
    model.train()
    for idx in torch.randperm(128).split(32):
        optimizer.zero_grad()
        loss = criterion(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
    model.eval
    with torch.no_grad():
        val = criterion(model(xv), yv)
    print(epoch, val.item())
