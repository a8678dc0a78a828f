# The region is switched off by an option.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
use_amp = False
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(40):
    batch = torch.randint(0, 512, (32,))
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=use_amp):
        loss = nn.functional.mse_loss(model(x[batch]), y[batch])
        loss.backward()
    optimizer.step()
print(loss.item())
