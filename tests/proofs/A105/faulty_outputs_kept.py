# The outputs of each training step are kept with their graphs for a metric.
# line: 19
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = x @ torch.randn(6, 1)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
predictions, targets = [], []
for step in range(24):
    i = (step % 8) * 32
    out = model(x[i : i + 32])
    loss = nn.functional.mse_loss(out, y[i : i + 32])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    predictions.append((out, loss))
    targets.append(y[i : i + 32])
print(f"mean output {torch.cat([p for p, _ in predictions]).mean():.4f}")
