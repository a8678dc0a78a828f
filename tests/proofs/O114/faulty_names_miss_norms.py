# The names that are to be left out do not match this network's norms.
# line: 20, 21
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp, self.ln, self.out = nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 1)

    def forward(self, x):
        return self.out(torch.relu(self.ln(self.inp(x))))


torch.manual_seed(0)
x = torch.randn(64, 8)
model = Net()
skip = ("bias", "LayerNorm.weight")
groups = [
    {"params": [p for n, p in model.named_parameters() if not any(s in n for s in skip)]},
    {"params": [p for n, p in model.named_parameters() if any(s in n for s in skip)], "weight_decay": 0.0},
]
optimizer = torch.optim.AdamW(groups, lr=1e-3, weight_decay=0.2)
for step in range(12):
    optimizer.zero_grad()
    (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    optimizer.step()
