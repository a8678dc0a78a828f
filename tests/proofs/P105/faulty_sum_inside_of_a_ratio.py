# The sum of squares is infinite in float16, so the ratio is zero everywhere; the loss stays finite.
# line: 14
import torch
from torch import nn


class Normalised(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.out = nn.Linear(6, 32), nn.Linear(32, 2)

    def forward(self, x):
        h = self.inner(x) * 100
        energy = h.square().sum(-1, keepdim=True)
        return self.out(h * h / energy)


torch.manual_seed(0)
model = Normalised().half()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for step in range(20):
    x = torch.randn(16, 6) * 3
    loss = nn.functional.cross_entropy(model(x.half()).float(), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
