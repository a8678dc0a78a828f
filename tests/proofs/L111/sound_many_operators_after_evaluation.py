# A long stretch after an evaluation: the look at it must not stay on.
import torch
import torch.nn.functional as F
from torch import nn

m = nn.Linear(3, 2)
o = torch.optim.SGD(m.parameters(), 0.1)
for i in range(30):
    o.zero_grad()
    F.cross_entropy(m(torch.randn(8, 3)), torch.randint(0, 2, (8,))).backward()
    o.step()
with torch.no_grad():
    out = m(torch.randn(8, 3))
    for _ in range(600):
        out = out * 1.0
    m(torch.randn(8, 3))
    for _ in range(600):
        out = out * 1.0
for i in range(40):
    o.zero_grad()
    F.cross_entropy(m(torch.randn(8, 3)), torch.randint(0, 2, (8,))).backward()
    o.step()
    n = torch._C._len_torch_function_stack()
assert n == 0, n
