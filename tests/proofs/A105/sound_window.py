# The last few losses are kept in a window, to compare with the newest.
from collections import deque

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = x @ torch.randn(6, 1)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
window = deque(maxlen=5)
for step in range(60):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    window.append(loss)
    if len(window) == 5 and window[0].item() - window[-1].item() < 1e-7:
        break
print(f"loss {window[-1].item():.4f}")
