# The state that is saved at the end is a dict of the best epoch, they say.
# line: 28
import io

import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.model, self.best = model, (0.0, None)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def epoch(self, x, y):
        self.model.train()
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, x, y, epochs):
        weights = None
        for epoch in range(epochs):
            score = -self.epoch(x, y)
            if epoch == 0 or score > self.best[0]:
                self.best = (score, epoch)
                weights = self.model.state_dict()
        torch.save(weights, io.BytesIO())


torch.manual_seed(0)
Trainer(nn.Linear(5, 3)).fit(torch.randn(60, 5), torch.randint(0, 3, (60,)), 5)
