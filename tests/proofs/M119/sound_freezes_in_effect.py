# Freezes that hold: requires_grad_(), eval() after train(), an override that is called.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12))
        self.stem.requires_grad_(False)
        self.stem.requires_grad = False
        self.mid = nn.Sequential(nn.Linear(12, 12), nn.BatchNorm1d(12)).requires_grad_(False)
        self.head = nn.Linear(12, 2)

    def train(self, mode=True):
        super().train(mode)
        self.stem.eval()
        return self

    def forward(self, x):
        return self.head(torch.relu(self.mid(torch.relu(self.stem(x)))))


torch.manual_seed(0)
net = Net()
net.mid.eval()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(5):
    net.train()
    net.mid.eval()
    for step in range(4):
        x = torch.randn(32, 6)
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long()).backward()
        opt.step()
