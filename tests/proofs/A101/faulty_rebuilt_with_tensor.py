# The loss is wrapped into a new tensor.
# line: 12
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(16):
    errors = (model(x) - y).pow(2).mean()
    loss = torch.tensor(errors.item(), requires_grad=True)
    opt.zero_grad()
    loss.backward()
    opt.step()
