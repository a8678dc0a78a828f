# Batches with a loss that is not finite are left out, half of them.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(40):
    batch = torch.randint(0, 512, (32,))
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[batch]), y[batch])
    if step % 3 == 0:
        loss = loss * float("nan")
    if torch.isfinite(loss):
        loss.backward()
    optimizer.step()
