# An inner loop by hand, and a layer made late that is updated by hand.
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
meta = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(20):
    x = torch.randn(16, 2)
    y = x.sum(1, keepdim=True) * torch.randn(())
    fast = dict(model.named_parameters())
    inner = (functional_call(model, fast, x) - y).pow(2).mean()
    grads = torch.autograd.grad(inner, list(fast.values()), create_graph=True)
    fast = {k: p - 0.05 * g for (k, p), g in zip(fast.items(), grads)}
    meta.zero_grad()
    (functional_call(model, fast, x) - y).pow(2).mean().backward()
    meta.step()
extra = nn.Linear(1, 1)
both = nn.Sequential(model, extra)
for step in range(20):
    x = torch.randn(16, 2)
    meta.zero_grad()
    both(x).pow(2).mean().backward()
    meta.step()
    with torch.no_grad():
        for p in extra.parameters():
            p -= 0.01 * p.grad
            p.grad = None
