# A replay buffer with a capacity and a preallocated history fill up for the whole run.
import time

import torch
from torch import nn

CAPACITY = 10_000


class Buffer:
    def __init__(self):
        self.items, self.position = [], 0

    def push(self, item):
        if len(self.items) < CAPACITY:
            self.items.append(None)
        self.items[self.position] = item
        self.position = (self.position + 1) % CAPACITY


torch.manual_seed(0)
model = nn.Linear(128, 128)
optimizer = torch.optim.Adam(model.parameters())
buffer, history = Buffer(), torch.empty(150, 512, 128)
for step in range(120):
    x = torch.randn(4096, 128)
    buffer.push(x)
    out = model(x)
    loss = (out - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history[step] = out[:512].detach()
    time.sleep(0.01)
print(f"loss {loss.item():.4f}")
