# line: 9
# Weights drawn far too large: tanh saturates, and the gradient grows from layer to layer on its way back.
import torch
from torch import nn

torch.manual_seed(0)
layers = []
for _ in range(26):
    layer = nn.Linear(48, 48)
    with torch.no_grad():
        layer.weight.normal_(0.0, 0.9)
    layers += [layer, nn.Tanh()]
net = nn.Sequential(*layers, nn.Linear(48, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-9)
for _ in range(30):
    x = torch.randn(64, 48)
    loss = nn.functional.mse_loss(net(x).squeeze(1), x[:, 0])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
