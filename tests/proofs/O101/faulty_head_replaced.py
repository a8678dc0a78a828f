# The head is replaced after the optimizer was made.
# line: 33
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        return self.head(self.body(x))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.AdamW(model.parameters(), lr=1e-2)

    def train(self, x, y, steps):
        for _ in range(steps):
            self.opt.zero_grad()
            nn.functional.cross_entropy(self.model(x), y).backward()
            self.opt.step()


torch.manual_seed(0)
x = torch.randn(64, 6)
net = Net(2)
trainer = Trainer(net)
net.head = nn.Linear(16, 5)
trainer.train(x, (x[:, 0] > 0).long() + 2, 24)
