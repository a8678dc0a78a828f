# Weights by hand, made without requires_grad.
# line: 6
import torch

torch.manual_seed(0)
w = torch.randn(4, 1)
b = torch.zeros(1)
x = torch.randn(32, 4)
y = x.sum(1, keepdim=True)
for step in range(10):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
