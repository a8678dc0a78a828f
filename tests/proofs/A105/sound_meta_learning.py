# Inner steps of meta-learning stay on the graph until the outer backward.
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for iteration in range(20):
    outer = 0.0
    for task in range(3):
        phase = torch.rand(1) * 3
        x = torch.rand(10, 1) * 6 - 3
        y = torch.sin(x + phase)
        fast = dict(model.named_parameters())
        for _ in range(6):
            loss = nn.functional.mse_loss(functional_call(model, fast, (x,)), y)
            grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
            fast = {name: p - 0.05 * g for (name, p), g in zip(fast.items(), grads)}
        outer = outer + nn.functional.mse_loss(functional_call(model, fast, (x,)), y)
    optimizer.zero_grad()
    outer.backward()
    optimizer.step()
print(f"outer loss {outer.item():.4f}")
