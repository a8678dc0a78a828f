# An optimizer over tensors that belong to no module.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
log_alpha = torch.zeros((), requires_grad=True)
codes = [torch.randn(3, requires_grad=True) for _ in range(4)]
opt = torch.optim.Adam([{"params": net.parameters()}, {"params": [log_alpha, *codes], "lr": 1e-2}], lr=1e-3)
for step in range(24):
    opt.zero_grad()
    loss = (net(torch.stack(codes)) * log_alpha.exp()).pow(2).mean() + (log_alpha - 1) ** 2
    loss.backward()
    opt.step()
