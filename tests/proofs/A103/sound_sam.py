# Sharpness-aware minimisation: an optimizer that steps another one and clears in between.
import torch
from torch import nn


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base = base(self.param_groups, **kwargs)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first_step(self):
        norm = torch.stack([p.grad.norm() for g in self.param_groups for p in g["params"]]).norm()
        for group in self.param_groups:
            for p in group["params"]:
                shift = p.grad * group["rho"] / (norm + 1e-12)
                p.add_(shift)
                self.state[p]["shift"] = shift
        self.zero_grad()

    @torch.no_grad()
    def second_step(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(self.state[p]["shift"])
        self.base.step()
        self.zero_grad()


torch.manual_seed(5)
x = torch.randn(256, 6)
y = (x[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = SAM(net.parameters(), torch.optim.SGD, lr=0.05)
for step in range(40):
    i = torch.randint(0, 256, (32,))
    nn.functional.cross_entropy(net(x[i]), y[i]).backward()
    optimizer.first_step()
    loss = nn.functional.cross_entropy(net(x[i]), y[i])
    loss.backward()
    optimizer.second_step()
print(loss.item())
