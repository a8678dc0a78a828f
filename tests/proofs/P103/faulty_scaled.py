# A training method under autocast.
# line: 15
import torch
from torch import nn


class Trainer:
    def __init__(self, net):
        self.net, self.scaler = net, torch.amp.GradScaler("cpu")
        self.opt = torch.optim.SGD(net.parameters(), lr=1e-2)

    @torch.autocast("cpu", dtype=torch.float16)
    def losses(self, x, y):
        loss = nn.functional.cross_entropy(self.net(x), y)
        self.scaler.scale(loss).backward()
        return loss.item()

    def step(self, x, y):
        self.opt.zero_grad()
        value = self.losses(x, y)
        self.scaler.step(self.opt)
        self.scaler.update()
        return value


torch.manual_seed(0)
trainer = Trainer(nn.Linear(4, 2))
for i in range(20):
    trainer.step(torch.randn(8, 4), torch.randint(0, 2, (8,)))
