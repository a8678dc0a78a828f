# One clip over both networks before each of their steps.
import torch
from torch import nn

torch.manual_seed(0)
a, b = nn.Linear(4, 1), nn.Linear(4, 1)
opt_a, opt_b = torch.optim.SGD(a.parameters(), lr=0.01), torch.optim.SGD(b.parameters(), lr=0.01)
everything = [*a.parameters(), *b.parameters()]
for step in range(40):
    x = torch.randn(16, 4)
    for net, opt in ((a, opt_a), (b, opt_b)):
        opt.zero_grad()
        nn.functional.mse_loss(net(x), x.sum(1, keepdim=True)).backward()
        nn.utils.clip_grad_norm_(everything, 1.0)
        opt.step()
