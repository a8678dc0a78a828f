# A meter averages loss tensors in its own attribute.
# line: 12
import torch
from torch import nn


class AverageMeter:
    def __init__(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n):
        self.sum += value * n
        self.count += n

    @property
    def mean(self):
        return float(self.sum / self.count)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        self.meter = AverageMeter()

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.meter.update(loss, len(x))


torch.manual_seed(0)
x, y = torch.randn(320, 6), torch.randint(0, 3, (320,))
trainer = Trainer(nn.Linear(6, 3))
for epoch in range(2):
    for i in range(0, 320, 32):
        trainer.step(x[i : i + 32], y[i : i + 32])
print(f"mean loss {trainer.meter.mean:.4f}")
