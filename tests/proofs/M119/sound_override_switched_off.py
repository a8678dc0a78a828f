# An override of train() whose freeze is switched off, and one that merges adapters.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, freeze=False):
        super().__init__()
        self.freeze = freeze
        self.bn = nn.BatchNorm1d(6)
        self.fc = nn.Linear(6, 2)
        self.merged = False

    def train(self, mode=True):
        super().train(mode)
        if self.freeze:
            self.bn.eval()
        self.merged = not mode
        return self

    def forward(self, x):
        return self.fc(self.bn(x))


torch.manual_seed(0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(20):
    x = torch.randn(32, 6)
    opt.zero_grad()
    nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long()).backward()
    opt.step()
