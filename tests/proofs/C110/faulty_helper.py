# A helper saves to the path that it was given, each time the same.
# line: 11
import os
import tempfile

import torch
from torch import nn


def checkpoint(model, file):
    torch.save(model.state_dict(), file)


torch.manual_seed(0)
model = nn.Linear(2, 2)
target = os.path.join(tempfile.mkdtemp(), "model.pt")
for step in range(4):
    checkpoint(model, target)
