# Fast weights start from slow ones again and again (Reptile), and slow ones follow.
import copy

import torch
from torch import nn

torch.manual_seed(0)
slow = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
fast = copy.deepcopy(slow)
optimizer = torch.optim.SGD(fast.parameters(), lr=0.05)
for task in range(20):
    fast.load_state_dict(slow.state_dict())
    phase = torch.rand(1) * 3
    for _ in range(5):
        x = torch.rand(10, 1) * 6 - 3
        loss = nn.functional.mse_loss(fast(x), torch.sin(x + phase))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        slow(x)
        for s, f in zip(slow.parameters(), fast.parameters()):
            s.add_(f - s, alpha=0.1)
print(f"loss {loss.item():.4f}")
