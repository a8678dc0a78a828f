# A bare tensor that the optimizer holds, and a perturbation that is updated by hand.
import torch
from torch import nn


class Attack(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(6, 2)
        self.delta = torch.zeros(6, requires_grad=True)
        self.temperature = torch.ones((), requires_grad=True)

    def forward(self, x):
        return self.net(x + self.delta) / self.temperature


torch.manual_seed(0)
x, y = torch.randn(64, 6), torch.randint(0, 2, (64,))
model = Attack()
opt = torch.optim.Adam([*model.parameters(), model.temperature], lr=1e-2)
for step in range(16):
    opt.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    opt.step()
    with torch.no_grad():
        model.delta += 0.01 * model.delta.grad.sign()
    model.delta.grad = None
