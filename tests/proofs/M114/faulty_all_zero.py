# line: 10
# All layers start at zero: the gradient of all but the last bias is zero for ever.
import torch
from torch import nn


def reset(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        with torch.no_grad():
            nn.init.zeros_(module.weight)
            nn.init.zeros_(module.bias)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
net.apply(reset)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(40):
    x = torch.randn(32, 5)
    loss = nn.functional.mse_loss(net(x).squeeze(1), x.sum(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
