# line: 8
# Twenty-eight plain layers with torch's default initialisation, which is too small for ReLU.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    *[m for _ in range(28) for m in (nn.Linear(32, 32), nn.ReLU())],
    nn.Linear(32, 1),
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(30):
    x = torch.randn(64, 32)
    loss = nn.functional.mse_loss(net(x).squeeze(1), x[:, 0].abs())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
