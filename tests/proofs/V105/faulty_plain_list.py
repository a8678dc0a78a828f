# Layers in a plain list do not move with their network.
# line: 11
# also: M101
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.LayerNorm(4) for _ in range(2)]
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.out(x)


net = Net().to("meta")
for step in range(2):
    net(torch.zeros(2, 4, device="meta")).sum().backward()
