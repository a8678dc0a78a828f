# A total over all steps goes backward each time; retain_graph=True silences the error.
# line: 16
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(160, 5)
y = x.sum(1, keepdim=True)
model = nn.Linear(5, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
total = 0.0
for step in range(20):
    i = (step % 10) * 16
    total = total + nn.functional.mse_loss(model(x[i : i + 16]), y[i : i + 16])
    optimizer.zero_grad()
    total.backward(retain_graph=True)
    optimizer.step()
print(f"total {total.item():.4f}")
