# The last layer is held for the first epochs by removing its gradient.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(60):
    batch = torch.randint(0, 512, (32,))
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[batch]), y[batch])
    loss.backward()
    if step < 40:
        for p in model[2].parameters():
            p.grad = None
    optimizer.step()
print(loss.item())
