# Backward stands under a condition, the step does not.
# line: 18
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(60):
    batch = torch.randint(0, 512, (32,))
    loss = nn.functional.mse_loss(model(x[batch]), y[batch])
    if step % 10 == 0:
        optimizer.zero_grad()
        loss.backward()
    optimizer.step()
print(loss.item())
