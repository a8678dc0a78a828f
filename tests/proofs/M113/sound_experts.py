# Experts that are routed few samples, one of them none for long; dropout; a frozen part.
import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(6, 4)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2)) for _ in range(4))
        self.drop = nn.Dropout(0.9)

    def forward(self, x):
        weight, chosen = self.gate(x).softmax(-1).max(-1)
        out = torch.zeros(len(x), 2)
        for i, expert in enumerate(self.experts):
            rows = chosen == i
            if rows.any():
                out[rows] = weight[rows, None] * self.drop(expert(x[rows]))
        return out


torch.manual_seed(0)
model = Experts()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(80):
    x = torch.randn(32, 6)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
