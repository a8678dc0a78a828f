# A bias of -30 where inputs are about one: no unit ever fires.
# line: 8
import torch
from torch import nn


def block(inputs, outputs):
    layer = nn.Linear(inputs, outputs)
    nn.init.constant_(layer.bias, -30.0)
    return nn.Sequential(layer, nn.ReLU())


torch.manual_seed(0)
body, head = block(10, 24), nn.Linear(24, 1)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.01)
for step in range(100):
    x = torch.randn(32, 10)
    loss = nn.functional.mse_loss(head(body(x)).squeeze(1), x[:, 0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
