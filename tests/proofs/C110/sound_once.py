# Saved once at the end, and when the score is better.
import os
import tempfile

import torch
from torch import nn

path = os.path.join(tempfile.mkdtemp(), "net.pt")
net, best = nn.Linear(2, 2), 0.0
for epoch in range(3):
    score = torch.rand(()).item()
    if score > best:
        best = score
        torch.save(net.state_dict(), path)
torch.save(net.state_dict(), path)
