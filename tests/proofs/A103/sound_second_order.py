# MAML: an inner step by autograd.grad, the outer gradient through it.
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(8)
net = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
outer = torch.optim.Adam(net.parameters(), lr=1e-3)
for iteration in range(20):
    outer.zero_grad()
    for task in range(3):
        x = torch.rand(10, 1) * 6 - 3
        y = torch.sin(x + task)
        weights = dict(net.named_parameters())
        inner = nn.functional.mse_loss(functional_call(net, weights, x), y)
        grads = torch.autograd.grad(inner, tuple(weights.values()), create_graph=True)
        fast = {k: w - 0.05 * g for (k, w), g in zip(weights.items(), grads)}
        loss = nn.functional.mse_loss(functional_call(net, fast, x), y)
        loss.backward()
    outer.step()
print(loss.item())
