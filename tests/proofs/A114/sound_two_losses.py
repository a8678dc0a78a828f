# Two losses and a gradient penalty need one graph twice within a step.
import torch
from torch import nn

torch.manual_seed(0)
body, first, second = nn.Sequential(nn.Linear(5, 8), nn.Tanh()), nn.Linear(8, 1), nn.Linear(8, 1)
optimizer = torch.optim.Adam([*body.parameters(), *first.parameters(), *second.parameters()], lr=1e-2)
x = torch.randn(64, 5)
y = x.sum(1, keepdim=True)
for step in range(40):
    inputs = x.clone().requires_grad_()
    features = body(inputs)
    one = nn.functional.mse_loss(first(features), y)
    two = nn.functional.l1_loss(second(features), y)
    optimizer.zero_grad()
    one.backward(retain_graph=True)
    (slope,) = torch.autograd.grad(two, inputs, create_graph=True)
    (two + 0.1 * slope.pow(2).sum()).backward()
    optimizer.step()
print(f"{one.item():.4f} {two.item():.4f}")
