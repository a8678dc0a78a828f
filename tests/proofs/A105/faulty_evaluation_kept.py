# Validation losses are kept with their graphs: the evaluation runs with gradients.
# line: 21
# also: A107
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = x @ torch.randn(6, 1)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
curve = []
for epoch in range(14):
    model.train()
    for i in range(0, 192, 64):
        loss = nn.functional.mse_loss(model(x[i : i + 64]), y[i : i + 64])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    curve.append(nn.functional.mse_loss(model(x[192:]), y[192:]))
print(f"validation loss {curve[-1].item():.4f}")
