# The trainer clears a network that it does not train.
# line: 20
import copy

import torch
from torch import nn


class Learner:
    def __init__(self):
        self.online = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
        self.target = copy.deepcopy(self.online)
        self.opt = torch.optim.RMSprop(self.online.parameters(), lr=1e-4)

    def update(self, s, a, r, s2):
        with torch.no_grad():
            goal = r + 0.9 * self.target(s2).max(1).values
        q = self.online(s).gather(1, a).squeeze(1)
        loss = nn.functional.smooth_l1_loss(q, goal)
        self.target.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()


torch.manual_seed(3)
learner = Learner()
for step in range(60):
    s, s2 = torch.randn(2, 32, 5)
    learner.update(s, torch.randint(0, 2, (32, 1)), torch.rand(32), s2)
    if step % 10 == 9:
        learner.target.load_state_dict(learner.online.state_dict())
