# Validation over batches in evaluation mode without no_grad.
# line: 19
import torch
from torch import nn

torch.manual_seed(0)
x, y, xv, yv = torch.randn(96, 4), torch.randn(96, 1), torch.randn(48, 4), torch.randn(48, 1)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    model.train()
    for idx in torch.randperm(96).split(16):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[idx]), y[idx]).backward()
        optimizer.step()
    model.eval()
    total = 0.0
    for a, b in zip(xv.split(16), yv.split(16)):
        total += nn.functional.mse_loss(model(a), b).item()
    print(epoch, total)
