# Adam with a learning rate of 1 throws the filters out in the first steps.
# line: 18
# also: M113
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1),
    nn.ReLU(),
    nn.Conv2d(8, 8, 3, padding=1),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(8, 3),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1.0)
for step in range(110):
    y = torch.randint(0, 3, (16,))
    x = torch.rand(16, 1, 8, 8) + y.view(-1, 1, 1, 1)
    optimizer.zero_grad()
    loss = criterion(net(x), y)
    loss.backward()
    optimizer.step()
