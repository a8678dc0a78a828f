# line: 12
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.out = nn.Conv2d(3, 8, 3), nn.Linear(8, 4)

    def forward(self, pixels):
        x = pixels.float().div(255).reshape(-1, 3, 16, 16)
        return self.out(torch.relu(self.conv(x)).mean((2, 3)))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    pixels = torch.randint(0, 256, (10, 16, 16, 3))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(pixels), torch.randint(0, 4, (10,))).backward()
    optimizer.step()
