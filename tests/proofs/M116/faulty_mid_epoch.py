# Validation in the middle of the epoch leaves evaluation mode on.
# line: 8
import torch
from torch import nn


def validate(model, x, y):
    model.eval()
    with torch.no_grad():
        return nn.functional.mse_loss(model(x), y).item()


torch.manual_seed(0)
x, y, xv, yv = torch.randn(128, 4), torch.randn(128, 1), torch.randn(32, 4), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    model.train()
    for step, idx in enumerate(torch.randperm(128).split(16)):
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 3:
            print(validate(model, xv, yv))
