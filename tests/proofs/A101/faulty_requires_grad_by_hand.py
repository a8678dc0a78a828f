# REINFORCE over plain numbers, made to require grad.
# line: 17, 23
import torch
from torch import nn
from torch.distributions import Categorical


class Agent:
    def __init__(self):
        self.policy = nn.Linear(3, 3)
        self.optimizer = torch.optim.SGD(self.policy.parameters(), lr=0.1)
        self.log_probs, self.rewards = [], []

    def act(self, state):
        dist = Categorical(logits=self.policy(state))
        action = dist.sample()
        self.log_probs.append(float(dist.log_prob(action)))
        return action.item()

    def learn(self):
        weighted = [-p * r for p, r in zip(self.log_probs, self.rewards)]
        loss = torch.tensor(weighted).sum()
        loss.requires_grad_()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.log_probs, self.rewards = [], []


torch.manual_seed(0)
agent = Agent()
for episode in range(20):
    for _ in range(5):
        s = int(torch.randint(0, 3, ()))
        agent.rewards.append(float(agent.act(nn.functional.one_hot(torch.tensor(s), 3).float()) == s))
    agent.learn()
