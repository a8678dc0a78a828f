# retain_graph=True on every step, with a graph of its own each time: harmless.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 5)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward(retain_graph=True)
    optimizer.step()
print(f"loss {loss.item():.4f}")
