# A soft update is called with its arguments exchanged.
# line: 30
import copy

import torch
from torch import nn


class Agent:
    def __init__(self, make, tau=0.05):
        self.online = make()
        self.target = copy.deepcopy(self.online)
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)
        self.tau = tau

    def learn(self, state, action, reward, following):
        value = self.online(state).gather(1, action)
        with torch.no_grad():
            goal = reward + 0.9 * self.target(following).max(1, keepdim=True).values
        loss = nn.functional.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def soft_update(target, online, tau):
    with torch.no_grad():
        for t, p in zip(target.parameters(), online.parameters()):
            t.mul_(1 - tau).add_(p, alpha=tau)


torch.manual_seed(0)
agent = Agent(lambda: nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2)))
for step in range(40):
    state, following = torch.randn(2, 32, 3)
    action = torch.randint(0, 2, (32, 1))
    loss = agent.learn(state, action, state[:, :1] * (action * 2 - 1), following)
    soft_update(agent.online, agent.target, agent.tau)
print(f"loss {loss:.4f}")
