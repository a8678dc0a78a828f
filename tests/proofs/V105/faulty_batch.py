# The inputs are moved, the targets are not.
# line: 16
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def step(net, x, y):
    return nn.functional.mse_loss(net(x), y)


device = torch.device("meta")
net = nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loader = DataLoader(TensorDataset(torch.randn(16, 4), torch.randn(16, 2)), batch_size=8)
for x, y in loader:
    optimizer.zero_grad()
    loss = step(net, x.to(device), y)
    loss.backward()
    optimizer.step()
