# The same by torch.device.
# line: 11
# also: V105
import torch
from torch import nn


def place(model):
    device = torch.device("cuda:3")
    try:
        return model.to(device)
    except (RuntimeError, AssertionError):
        return model


place(nn.Linear(2, 2))
