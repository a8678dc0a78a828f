# A script sums the loss tensor over the epoch.
# line: 18
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = x @ torch.randn(6, 1)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(2):
    total = 0.0
    for i in range(0, 256, 16):
        loss = nn.functional.mse_loss(model(x[i : i + 16]), y[i : i + 16])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = total + loss
    print(f"epoch {epoch} loss {total / 16:.4f}")
