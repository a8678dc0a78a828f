# out += identity on the output of a ReLU, in the second of two blocks.
# line: 16
import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a, self.b = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        out = F.relu(self.a(x))
        out = torch.sigmoid(self.b(out))
        out += x
        return out


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), Block(8), Block(8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = F.mse_loss(model(torch.randn(16, 4)), torch.randn(16, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
