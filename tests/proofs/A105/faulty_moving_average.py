# An exponential moving average of the loss is a tensor; gradients are accumulated over two batches.
# line: 19
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = x @ torch.randn(6, 1)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
smooth = None
for step in range(48):
    i = (step % 16) * 16
    loss = nn.functional.mse_loss(model(x[i : i + 16]), y[i : i + 16]) / 2
    loss.backward()
    if step % 2 == 1:
        optimizer.step()
        optimizer.zero_grad()
    smooth = loss if smooth is None else 0.9 * smooth + 0.1 * loss
print(f"loss {smooth.item():.4f}")
