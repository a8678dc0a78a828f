# A trainer that steps the scheduler before the optimizer, with every batch.
# line: 17
import torch
from torch import nn


class Trainer:
    def __init__(self, net, steps):
        self.net = net
        self.optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
        self.scheduler = torch.optim.lr_scheduler.OneCycleLR(self.optimizer, max_lr=1e-2, total_steps=steps + 1)

    def train_step(self, x, y):
        loss = nn.functional.mse_loss(self.net(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.scheduler.step()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
trainer = Trainer(nn.Linear(4, 1), 40)
for i in range(40):
    x = torch.randn(16, 4)
    trainer.train_step(x, x.sum(1, keepdim=True))
