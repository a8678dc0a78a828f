# Heads that take turns, one of them very seldom.
import torch
from torch import nn


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 12)
        self.heads = nn.ModuleDict({"often": nn.Linear(12, 1), "seldom": nn.Linear(12, 1)})

    def forward(self, x, task):
        return self.heads[task](torch.relu(self.body(x)))


torch.manual_seed(0)
model = MultiTask()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(120):
    x = torch.randn(16, 6)
    task = "seldom" if step % 50 == 42 else "often"
    opt.zero_grad()
    (model(x, task)[:, 0] - x.sum(1)).pow(2).mean().backward()
    opt.step()
