# Values clipped when they have been used, before the clearing.
# line: 13
import torch
from torch import nn


class Trainer:
    def __init__(self, net, limit):
        self.net, self.limit = net, limit
        self.optimizer = torch.optim.RMSprop(net.parameters(), lr=1e-3)

    def prepare(self):
        nn.utils.clip_grad_value_(self.net.parameters(), self.limit)
        self.optimizer.zero_grad(set_to_none=False)

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        self.prepare()
        return loss.item()


torch.manual_seed(0)
trainer = Trainer(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)), 0.5)
for i in range(40):
    x = torch.randn(16, 4)
    trainer.step(x, x.sum(1, keepdim=True))
