# Leaves, retain_grad(), and a parameter moved before it became one.
import torch
from torch import nn

torch.manual_seed(0)
w = (torch.randn(3, 1) * 0.1).requires_grad_()
v = nn.Parameter(torch.zeros(1).to("cpu"))
for step in range(3):
    hidden = torch.randn(32, 3) @ w + v
    hidden.retain_grad()
    hidden.pow(2).mean().backward()
    print(hidden.grad.norm().item(), hidden.is_leaf)
    with torch.no_grad():
        for p in (w, v):
            p -= 0.1 * p.grad
            p.grad = None
