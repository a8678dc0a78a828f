# The freeze stands in train(), which is never called.
# line: 21
# source: silent, which methods are called in the end is for a run to see
import torch
from torch import nn


class FineTuned(nn.Module):
    def __init__(self, freeze_bn=True):
        super().__init__()
        self.freeze_bn = freeze_bn
        self.conv = nn.Conv2d(1, 4, 3)
        self.bn = nn.BatchNorm2d(4)
        self.fc = nn.Linear(4, 2)

    def train(self, mode=True):
        super().train(mode)
        if mode and self.freeze_bn:
            for m in self.modules():
                if isinstance(m, nn.BatchNorm2d):
                    m.eval()
        return self

    def forward(self, x):
        return self.fc(torch.relu(self.bn(self.conv(x))).mean((2, 3)))


torch.manual_seed(0)
model = FineTuned()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    x = torch.randn(16, 1, 6, 6)
    opt.zero_grad()
    nn.functional.cross_entropy(model(x), (x.mean((1, 2, 3)) > 0).long()).backward()
    opt.step()
