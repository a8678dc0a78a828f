# Batches split by hand: the last one has a single sample.
# line: 12
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(33, 4), torch.randn(33, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for idx in torch.randperm(33).split(8):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[idx]), y[idx])
    loss.backward()
    optimizer.step()
