# An explicit decay on everything.
# line: 10
# source: silent, decay on everything is common, and told by the run alone
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 8)
model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
for step in range(12):
    optimizer.zero_grad()
    (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    optimizer.step()
