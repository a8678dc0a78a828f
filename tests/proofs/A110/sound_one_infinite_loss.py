# One batch of the first epoch has an infinite loss, which harms nothing.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for step in range(40):
    x = torch.randn(16, 4)
    weight = torch.full((16,), float("inf") if step == 5 else 1.0)
    error = (net(x).squeeze(1) - x.sum(1)).pow(2)
    loss = error.mean() + weight.log().relu().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(error.mean().item())
