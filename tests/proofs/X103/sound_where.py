# Both sides by torch.where; branches on shapes, modes and options.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, bias=None):
        super().__init__()
        self.fc, self.bias = nn.Linear(4, 1), bias

    def forward(self, x):
        if x.dim() == 1:
            x = x.unsqueeze(0)
        if self.training:
            x = x + 0.1 * torch.randn_like(x)
        if self.bias is not None:
            x = x + self.bias
        return self.fc(torch.where(x.abs().amax() > 10, x / 255, x))


net = Net().eval()
torch.jit.trace(net, torch.rand(2, 4))
