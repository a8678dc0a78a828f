from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    temperature: float = 3.0
    alpha: float = 0.7
    steps: int = 80
    lr: float = 0.05


def mlp(width):
    return nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Linear(width, 4))


class Distiller:
    def __init__(self, teacher, student, cfg):
        self.teacher, self.student, self.cfg = teacher.eval(), student, cfg
        self.opt = torch.optim.SGD(student.parameters(), lr=cfg.lr, momentum=0.9)

    def loss(self, x, y):
        t = self.cfg.temperature
        with torch.no_grad():
            soft = F.softmax(self.teacher(x) / t, dim=1)
        logits = self.student(x)
        prediction = F.softmax(logits / t, dim=1)
        kd = F.kl_div(prediction, soft, reduction="batchmean") * t * t
        return self.cfg.alpha * kd + (1 - self.cfg.alpha) * F.cross_entropy(logits, y)

    def step(self, x, y):
        self.opt.zero_grad()
        value = self.loss(x, y)
        value.backward()
        self.opt.step()
        return value.item()


torch.manual_seed(1)
x = torch.randn(600, 10)
y = (x[:, :4] * torch.tensor([1.0, 2.0, -1.0, 0.5])).argmax(1)
teacher = mlp(64)
warm = torch.optim.Adam(teacher.parameters(), 1e-2)
for _ in range(60):
    warm.zero_grad()
    F.cross_entropy(teacher(x), y).backward()
    warm.step()
distiller = Distiller(teacher, mlp(12), Config())
for s in range(Config.steps):
    i = torch.randint(0, 600, (64,))
    value = distiller.step(x[i], y[i])
print(f"distillation loss {value:.4f}")
