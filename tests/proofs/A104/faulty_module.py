# A trainer that clears the module just before the step.
# line: 20
import torch
from torch import nn


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step(self, x, y):
        loss = nn.functional.cross_entropy(self.net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.apply()
        return loss.item()

    def apply(self):
        self.net.zero_grad()
        self.opt.step()


torch.manual_seed(1)
trainer = Trainer(nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 2)))
for i in range(30):
    x = torch.randn(16, 5)
    trainer.step(x, (x[:, 0] > 0).long())
