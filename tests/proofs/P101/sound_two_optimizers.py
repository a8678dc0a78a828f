# Two optimizers, one update.
import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(4, 8), nn.Linear(8, 1)
first = torch.optim.SGD(body.parameters(), lr=0.01)
second = torch.optim.Adam(head.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu")
for step in range(30):
    x = torch.randn(16, 4)
    first.zero_grad()
    second.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = (head(body(x).tanh()).float() - x[:, :1]).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(first)
    scaler.step(second)
    scaler.update()
print(loss.item())
