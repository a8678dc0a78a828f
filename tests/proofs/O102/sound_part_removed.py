# A part is removed and nothing takes its place; an optimizer per stage.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.aux = nn.Linear(8, 1)
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        h = torch.relu(self.body(x))
        return self.out(h) + (self.aux(h) if self.aux is not None else 0)


torch.manual_seed(0)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
for stage in range(3):
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(16):
        if step == 8:
            model.aux = None
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
