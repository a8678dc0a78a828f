# The best weights are restored from a copy of the model's own state.
import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(80, 4)
y = x.sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
best, best_state = float("inf"), None
for epoch in range(30):
    model.train()
    loss = nn.functional.mse_loss(model(x[:60]), y[:60])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        score = nn.functional.mse_loss(model(x[60:]), y[60:]).item()
    if score < best:
        best, best_state = score, copy.deepcopy(model.state_dict())
model.load_state_dict(best_state)
print(f"best {best:.4f}")
