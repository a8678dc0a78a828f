# The trainer has a method for it, which nobody calls.
# line: 11
import torch
from torch import nn


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer)

    def epoch(self, x, y):
        for batch in torch.randperm(len(x)).split(16):
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.net(x[batch]), y[batch])
            loss.backward()
            self.optimizer.step()
        return loss.item()

    def epoch_ends(self, loss):
        self.scheduler.step(loss)


torch.manual_seed(0)
x = torch.randn(128, 4)
trainer = Trainer(nn.Linear(4, 1))
for epoch in range(4):
    print(trainer.epoch(x, x.sum(1, keepdim=True)))
