# The missing update shows at unscale_().
# line: 19
import torch
from torch import nn


class Trainer:
    def __init__(self, net):
        self.net, self.scaler = net, torch.amp.GradScaler("cpu", init_scale=1024.0)
        self.opt = torch.optim.AdamW(net.parameters(), lr=1e-3)

    def step(self, x, y):
        self.opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(self.net(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.opt)
        nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.scaler.step(self.opt)


torch.manual_seed(0)
trainer = Trainer(nn.Linear(4, 2))
for i in range(5):
    trainer.step(torch.randn(8, 4), torch.randint(0, 2, (8,)))
