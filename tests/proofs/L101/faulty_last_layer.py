# The network of a small image classifier ends in a softmax layer.
# line: 12
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(1, 4, 3),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(144, 5),
    nn.Softmax(dim=1),
)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
for _ in range(12):
    x, y = torch.randn(16, 1, 8, 8), torch.randint(5, (16,))
    optimizer.zero_grad()
    criterion(net(x), y).backward()
    optimizer.step()
