# Cleared by hand with a foreach function.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(40):
    batch = torch.randint(0, 512, (32,))
    torch._foreach_zero_([p.grad for p in model.parameters() if p.grad is not None] or [torch.zeros(1)])
    loss = nn.functional.mse_loss(model(x[batch]), y[batch])
    loss.backward()
    optimizer.step()
print(loss.item())
