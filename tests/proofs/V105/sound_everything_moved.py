# Buffers follow, numbers go with every device, a mismatch is caught.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.register_buffer("scale", torch.ones(2))
        self.temperature = torch.tensor(0.5)

    def forward(self, x):
        return self.fc(x + torch.randn_like(x)) * self.scale * self.temperature


net = Net().to("meta")
for step in range(2):
    net(torch.randn(8, 4, device="meta")).sum().backward()
try:
    torch.ones(2) + torch.ones(2, device="meta")
except RuntimeError:
    pass
