# train() restored by the loop, by the evaluation itself, and by the mode from before.
import torch
from torch import nn


def validate(model, x, y):
    was = model.training
    model.eval()
    with torch.no_grad():
        loss = nn.functional.mse_loss(model(x), y).item()
    model.train(was)
    return loss


torch.manual_seed(0)
x, y, xv, yv = torch.randn(128, 4), torch.randn(128, 1), torch.randn(32, 4), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    model.train()
    for step, idx in enumerate(torch.randperm(128).split(16)):
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 3:
            print(validate(model, xv, yv))
    model.eval()
    with torch.no_grad():
        print(epoch, nn.functional.mse_loss(model(xv), yv).item())
