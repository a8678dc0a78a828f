# The target network loads its own weights.
# line: 27
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

    def sync(self):
        self.target.load_state_dict(self.target.state_dict())


torch.manual_seed(0)
agent = Agent(lambda: nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2)))
for step in range(40):
    state, following = torch.randn(2, 32, 3)
    action = torch.randint(0, 2, (32, 1))
    loss = agent.learn(state, action, state[:, :1] * (action * 2 - 1), following)
    agent.sync() if step % 5 == 4 else None
print(f"loss {loss:.4f}")
