# The second GPU is written out.
# line: 8
# also: V105
from torch import nn

net = nn.Linear(4, 1)
try:
    net.to("cuda:1")
except (RuntimeError, AssertionError):
    pass
