# Adversarial training: a first backward for the input, cleared, then the training one.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(40):
    batch = torch.randint(0, 512, (32,))
    attacked = x[batch].clone().requires_grad_()
    nn.functional.mse_loss(model(attacked), y[batch]).backward()
    model.zero_grad()
    attacked = (attacked + 0.05 * attacked.grad.sign()).detach()
    loss = nn.functional.mse_loss(model(attacked), y[batch])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
print(loss.item())
