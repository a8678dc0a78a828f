# The branch stands in a block of the traced network.
# line: 13
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")


class Gate(nn.Module):
    def forward(self, x):
        if x.mean() < 0:
            return -x
        return x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.fc = Gate(), nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(self.gate(x))


def save(model, example):
    return torch.jit.trace(model, example)


save(Net().eval(), torch.rand(3, 4))
