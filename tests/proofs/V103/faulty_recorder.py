# A recorder object keeps the features of each step under its step number.
# line: 14
import time

import torch
from torch import nn


class Recorder:
    def __init__(self):
        self.features = {}

    def record(self, step, tensors):
        self.features[step] = [t.detach().numpy().copy() for t in tensors]


class Trainer:
    def __init__(self):
        self.model = nn.Linear(128, 128)
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.recorder = Recorder()
        self.steps = 0

    def step(self, x):
        out = self.model(x)
        loss = (out - x).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.recorder.record(self.steps, [out, x])
        self.steps += 1
        time.sleep(0.012)
        return loss.item()


torch.manual_seed(0)
trainer = Trainer()
for _ in range(150):
    loss = trainer.step(torch.randn(2048, 128))
print(f"loss {loss:.4f}")
