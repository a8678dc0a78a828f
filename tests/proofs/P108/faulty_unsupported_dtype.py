# A dtype that CPU autocast does not have.
# line: 8
import torch
from torch import nn


def train_step(model, optimizer, x, y):
    with torch.autocast(device_type="cpu", dtype=torch.float32):
        loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(5):
    train_step(model, optimizer, torch.randn(64, 4), torch.randn(64, 1))
