# LBFGS: clearing and backward inside the closure.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=4, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    return loss


for step in range(10):
    print(optimizer.step(closure).item())
