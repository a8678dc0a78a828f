# An auxiliary head is called and no loss uses what it returns.
# line: 12
import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 16), nn.ReLU())
        self.cls = nn.Linear(16, 4)
        self.box = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, x):
        h = self.body(x)
        return self.cls(h), self.box(h)


class Experiment:
    def __init__(self):
        self.model = Detector()
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)

    def step(self, x, label, box):
        logits, predicted = self.model(x)
        loss = nn.functional.cross_entropy(logits, label)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item(), (predicted - box).abs().mean().item()


torch.manual_seed(0)
experiment = Experiment()
for _ in range(24):
    x = torch.randn(32, 10)
    experiment.step(x, (x[:, 0] > 0).long(), x[:, :4])
