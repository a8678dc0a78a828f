# Each parameter has its own optimizer, which steps and clears from a hook inside the backward.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

optimizers = {p: torch.optim.SGD([p], lr=0.05) for p in model.parameters()}


def apply(p):
    optimizers[p].step()
    optimizers[p].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(apply)
for step in range(40):
    batch = torch.randint(0, 512, (32,))
    loss = nn.functional.mse_loss(model(x[batch]), y[batch])
    loss.backward()
print(loss.item())
