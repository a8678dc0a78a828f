# The arguments of the command line were saved with the weights.
# line: 12
import argparse

import torch
from torch import nn

net = nn.Linear(2, 2)
args = argparse.Namespace(lr=0.1, width=2)
torch.save({"model": net.state_dict(), "args": args}, "checkpoint.pt")

checkpoint = torch.load("checkpoint.pt")
net.load_state_dict(checkpoint["model"])
