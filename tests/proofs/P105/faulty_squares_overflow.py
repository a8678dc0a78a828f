# In a model turned to float16 the square of a feature of 300 is beyond 65,504.
# line: 15
import torch
from torch import nn


class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(4, 8)
        self.scale = nn.Linear(8, 1)

    def forward(self, x):
        h = self.project(x)
        power = h.pow(2)
        return self.scale(power).squeeze(-1)


torch.manual_seed(0)
model = Energy().half()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for step in range(20):
    x = torch.randn(16, 4)
    if step == 13:
        x = x * 2000
    loss = (model(x.half()).float() - x[:, 0]).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
