# Each step's activations are appended to a list that nothing ever reads or empties.
# line: 19
import time

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(8192, 64)
seen = []
for step in range(150):
    hidden = model[0](x)
    loss = model[2](model[1](hidden)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seen.append(hidden.detach().clone())
    time.sleep(0.012)
print(f"{len(seen)} kept, loss {loss.item():.4f}")
