# set_grad_enabled(False) in the validation is never undone.
# line: 13
import torch
from torch import nn


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def validate(self, x, y):
        torch.set_grad_enabled(False)
        self.model.eval()
        loss = nn.functional.mse_loss(self.model(x), y).item()
        self.model.train()
        return loss

    def train(self, x, y):
        for idx in torch.randperm(len(x)).split(16):
            loss = nn.functional.mse_loss(self.model(x[idx]), y[idx])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


torch.manual_seed(0)
trainer = Trainer()
for epoch in range(2):
    trainer.train(torch.randn(64, 4), torch.randn(64, 1))
    print(trainer.validate(torch.randn(16, 4), torch.randn(16, 1)))
