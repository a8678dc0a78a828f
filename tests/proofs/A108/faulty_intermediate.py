# The gradient of a hidden layer is looked at without retain_grad().
# line: 11
import torch
from torch import nn

torch.manual_seed(0)
first, second = nn.Linear(4, 8), nn.Linear(8, 1)
hidden = torch.relu(first(torch.randn(16, 4)))
loss = second(hidden).pow(2).mean()
loss.backward()
print("hidden gradient", hidden.grad)
