# Per-sample gradients made by hand, clipped, applied.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(20):
    optimizer.zero_grad()
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    for i in torch.randint(0, 512, (4,)).tolist():
        loss = nn.functional.mse_loss(model(x[i]), y[i])
        for p, g in zip(model.parameters(), torch.autograd.grad(loss, list(model.parameters()))):
            p.grad.add_(g / 4)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
