# The accuracy in percent, counted by hand in a trainer.
# line: 11
import torch
from torch import nn


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, mode="min", factor=0.5, patience=1)

    def epoch(self, x, y):
        for batch in torch.randperm(len(x)).split(40):
            self.optimizer.zero_grad()
            nn.functional.cross_entropy(self.net(x[batch]), y[batch]).backward()
            self.optimizer.step()

    @torch.no_grad()
    def score(self, x, y):
        right = 0
        for xb, yb in zip(x.split(50), y.split(50)):
            right += (self.net(xb).argmax(1) == yb).sum().item()
        return 100.0 * right / len(x)

    def fit(self, train, test, epochs):
        for epoch in range(epochs):
            self.epoch(*train)
            self.scheduler.step(self.score(*test))


torch.manual_seed(1)
centers = torch.randn(6, 12)
y = torch.randint(0, 6, (700,))
x = centers[y] + 1.3 * torch.randn(700, 12)
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 6))
Trainer(net).fit((x[:400], y[:400]), (x[400:], y[400:]), epochs=12)
