# A logging function that is not running when the step ends keeps the losses in its closure.
# line: 11
import torch
from torch import nn


def make_logger():
    values = []

    def log(loss):
        values.append(loss)
        if len(values) % 10 == 0:
            print(f"{len(values)} steps, loss {values[-1].item():.4f}")

    return log


torch.manual_seed(0)
x = torch.randn(200, 4)
y = x.prod(1, keepdim=True)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
log = make_logger()
for step in range(30):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    log(loss)
