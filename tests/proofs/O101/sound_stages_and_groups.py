# A head replaced before the second optimizer; a thawed layer given by add_param_group.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.late = nn.Linear(16, 16)
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(torch.relu(self.late(self.body(x))))


def fit(model, optimizer, x, y, steps):
    for step in range(steps):
        if step == 8 and not model.late.weight.requires_grad:
            model.late.requires_grad_(True)
            optimizer.add_param_group({"params": model.late.parameters()})
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


torch.manual_seed(0)
x, y = torch.randn(64, 6), torch.randint(0, 2, (64,))
model = Net()
model.late.requires_grad_(False)
fit(model, torch.optim.Adam([p for p in model.parameters() if p.requires_grad]), x, y, 20)
model.head = nn.Linear(16, 4)
fit(model, torch.optim.Adam(model.parameters()), x, y, 20)
