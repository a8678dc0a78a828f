# Four batches per step, cleared after the step.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for i, batch in enumerate(torch.randperm(512).split(8)):
    loss = nn.functional.mse_loss(model(x[batch]), y[batch]) / 4
    loss.backward()
    if i % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
print(loss.item())
