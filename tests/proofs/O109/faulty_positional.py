# The same in a function, from a constant.
# line: 10
import torch
from torch import nn

DECAY = 1e-2


def make(model):
    return torch.optim.Adam(model.parameters(), lr=3e-4, weight_decay=DECAY)


make(nn.Linear(2, 2))
