# train() freezes first and lets super().train() undo it.
# line: 14
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU()).requires_grad_(False)
        self.head = nn.Linear(12, 2)

    def train(self, mode=True):
        self.backbone.eval()
        return super().train(mode)

    def forward(self, x):
        return self.head(self.backbone(x))


def main():
    torch.manual_seed(0)
    x, y = torch.randn(64, 6), torch.randint(0, 2, (64,))
    net = Net()
    opt = torch.optim.Adam(net.head.parameters(), lr=1e-2)
    for epoch in range(6):
        net.train()
        for i in torch.randperm(64).split(16):
            opt.zero_grad()
            nn.functional.cross_entropy(net(x[i]), y[i]).backward()
            opt.step()


main()
