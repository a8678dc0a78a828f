# Adam moves each weight by the learning rate, whatever the gradient: at 10 nothing is left of the weights.
# line: 10
# also: M113
import torch
from torch import nn


def build(lr):
    model = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    return model, optimizer


torch.manual_seed(0)
model, optimizer = build(10.0)
for step in range(120):
    x = torch.randn(64, 6)
    loss = nn.functional.mse_loss(model(x).squeeze(1), x.sum(1).sin())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
