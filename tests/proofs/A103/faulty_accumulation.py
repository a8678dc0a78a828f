# Accumulated batches that are stepped and never cleared.
# line: 15, 16, 18
import torch
from torch import nn


class Trainer:
    def __init__(self, model, accumulate=4):
        self.model, self.accumulate = model, accumulate
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def fit(self, x, y, epochs):
        for epoch in range(epochs):
            for i, batch in enumerate(torch.randperm(len(x)).split(16)):
                loss = nn.functional.cross_entropy(self.model(x[batch]), y[batch]) / self.accumulate
                loss.backward()
                if (i + 1) % self.accumulate == 0:
                    self.optimizer.step()
            print(epoch, loss.item())


torch.manual_seed(4)
x = torch.randn(512, 10)
Trainer(nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 3))).fit(x, (x[:, 0] > 0).long(), epochs=2)
