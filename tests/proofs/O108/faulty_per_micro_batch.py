# Partial sums are clipped with every batch of an accumulated step.
# line: 17
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(20):
    optimizer.zero_grad()
    for batch in torch.randperm(512).split(128):
        loss = nn.functional.mse_loss(model(x[batch]), y[batch]) / 4
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.05)
    optimizer.step()
print(loss.item())
