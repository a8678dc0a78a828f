# The scheduler is stepped in the place of the optimizer.
# line: 17
import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.model = nn.Linear(4, 1)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=0.999)

    def update(self, x, y):
        loss = nn.functional.mse_loss(self.model(x), y)
        self.model.zero_grad()
        loss.backward()
        self.scheduler.step()


torch.manual_seed(0)
trainer = Trainer()
for _ in range(40):
    x = torch.randn(32, 4)
    trainer.update(x, x.sum(1, keepdim=True))
