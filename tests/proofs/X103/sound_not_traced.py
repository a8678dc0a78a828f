# A branch on data in a network that is run as it is, or scripted.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        if x.abs().max() > 10:
            x = x / 255
        return self.fc(x)


net = Net().eval()
print(net(torch.rand(2, 4)))
other = nn.Linear(4, 1).eval()
torch.jit.trace(other, torch.rand(2, 4))
