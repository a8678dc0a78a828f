# The layers are in a list on purpose and handed to the optimizer by name.
import torch
from torch import nn


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = [nn.Linear(6, 1) for _ in range(3)]
        self.gate = nn.Linear(6, 3)

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        return sum(weights[:, i : i + 1] * e(x) for i, e in enumerate(self.experts))


torch.manual_seed(0)
x = torch.randn(64, 6)
model = Bag()
params = list(model.parameters()) + [p for e in model.experts for p in e.parameters()]
opt = torch.optim.Adam(params, lr=1e-2)
for step in range(20):
    opt.zero_grad()
    nn.functional.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
    opt.step()
