# Losses of several micro-batches are summed as tensors before one backward.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = x @ torch.randn(6, 1)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(30):
    parts = []
    for i in range(0, 256, 32):
        parts.append(nn.functional.mse_loss(model(x[i : i + 32]), y[i : i + 32]))
    total = sum(parts) / len(parts)
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
print(f"loss {total.item():.4f}")
