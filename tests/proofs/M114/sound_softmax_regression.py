# Softmax regression from zero has one layer and no symmetry to break; so has a table of zeros.
import torch
from torch import nn

torch.manual_seed(0)
linear, table = nn.Linear(6, 4), nn.Embedding(10, 4)
nn.init.zeros_(linear.weight)
nn.init.zeros_(table.weight)
optimizer = torch.optim.SGD([*linear.parameters(), *table.parameters()], lr=0.5)
for _ in range(40):
    x, group = torch.randn(32, 6), torch.randint(0, 10, (32,))
    loss = nn.functional.cross_entropy(linear(x) + table(group), x[:, :4].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
