"""Programs that shuffle, close and count their descriptors, and move about."""

import os
import sys

import torch
from torch import nn


def train():
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(9):
        optimizer.zero_grad()
        loss = model(torch.randn(2, 3)).sum()
        loss.backward()
        optimizer.step()
    return loss.item()


print(train(), [number for number in range(3, 300) if os.path.exists(f"/proc/self/fd/{number}")], flush=True)
folder = os.path.dirname(os.path.abspath(sys.argv[0]))
os.chdir("/")
print(train(), os.getcwd(), flush=True)
kept = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
sys.stderr = None
print(train(), flush=True)
os.close(2)
print(train(), flush=True)
os.closerange(kept + 1, 4096)
reading, writing = os.pipe()
numbers = [os.dup(writing) for _ in range(520)]  # one of them has the number of ours
print(train(), numbers[-1] > 510, flush=True)
os.set_blocking(reading, False)
try:
    print(os.read(reading, 10))
except BlockingIOError:
    print("nothing was written there")
