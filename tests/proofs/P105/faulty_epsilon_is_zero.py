# An epsilon of 1e-8 is zero in float16, and so the divisor is.
# line: 8
import torch
from torch import nn


def unit(h):
    return h / (h.abs().sum(-1, keepdim=True) + 1e-8)


torch.manual_seed(0)
first, last = nn.Linear(6, 4).half(), nn.Linear(4, 1).half()
optimizer = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=1e-2)
for step in range(40):
    x = torch.randn(8, 6)
    out = last(unit(torch.relu(first(x.half()))))
    loss = nn.functional.mse_loss(out.float().squeeze(-1), x[:, 0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
