# The same by to(torch.float64), in a class.
# line: 11
import numpy as np
import torch
from torch import nn


class Fit:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
        self.net.to(torch.float64)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def run(self):
        table = np.random.rand(50, 3) * 2 - 1
        x = torch.tensor(table)
        for _ in range(4):
            loss = self.net(x).pow(2).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


Fit().run()
