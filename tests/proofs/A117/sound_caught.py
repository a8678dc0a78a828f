# A test that nothing can be learned: the failure is expected.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
net.requires_grad_(False)
try:
    net(torch.randn(2, 4)).sum().backward()
except RuntimeError:
    print("nothing to learn, as expected")
else:
    raise SystemExit(1)
