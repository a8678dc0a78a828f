# Evolution strategies as an optimizer: it never looks at a gradient.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))


class Evolution(torch.optim.Optimizer):
    def __init__(self, params, sigma=0.02):
        super().__init__(params, dict(sigma=sigma))

    @torch.no_grad()
    def step(self, closure):
        best = closure()
        for group in self.param_groups:
            noise = [group["sigma"] * torch.randn_like(p) for p in group["params"]]
            for p, n in zip(group["params"], noise):
                p.add_(n)
            if closure() > best:
                for p, n in zip(group["params"], noise):
                    p.sub_(n)
        return best


optimizer = Evolution(model.parameters())
for step in range(40):
    loss = optimizer.step(lambda: nn.functional.mse_loss(model(x), y))
print(loss.item())
