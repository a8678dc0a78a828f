# exp of 12 is beyond what float16 holds.
# line: 14
# also: L113
import torch
from torch import nn


class Weights(nn.Module):
    def __init__(self):
        super().__init__()
        self.logit = nn.Linear(5, 3)

    def forward(self, x):
        raw = torch.exp(self.logit(x))
        return raw / raw.sum(-1, keepdim=True)


torch.manual_seed(2)
model = nn.ModuleDict({"gate": Weights(), "out": nn.Linear(3, 2)}).to(torch.float16)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for step in range(24):
    x = torch.randn(16, 5) * (40 if step >= 17 else 1)
    logits = model["out"](model["gate"](x.half()))
    loss = nn.functional.cross_entropy(logits.float(), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
