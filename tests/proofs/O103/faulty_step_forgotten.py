# optimizer.step() is missing.
# line: 14
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randint(0, 2, (64,))
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(10):
    for i in torch.randperm(64).split(16):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[i]), y[i])
        loss.backward()
    print(epoch, loss.item())
