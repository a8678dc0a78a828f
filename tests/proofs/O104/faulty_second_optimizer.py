# The second optimizer's loss is computed and never sent backward.
# line: 25
# also: M104 A101 O101 O102
import torch
from torch import nn


class Pair:
    def __init__(self):
        self.actor, self.critic = nn.Linear(4, 2), nn.Linear(4, 1)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-2)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=1e-2)

    def update(self, s):
        dist = torch.distributions.Categorical(logits=self.actor(s))
        a = dist.sample()
        reward = (a == (s[:, 0] > 0)).float()
        advantage = reward - self.critic(s).squeeze(1)
        self.actor_opt.zero_grad()
        self.critic_opt.zero_grad()
        actor_loss = -(dist.log_prob(a) * advantage.detach()).mean()
        critic_loss = advantage.pow(2).mean()
        actor_loss.backward()
        self.actor_opt.step()
        self.critic_opt.step()
        return critic_loss.item()


torch.manual_seed(0)
pair = Pair()
for i in range(40):
    pair.update(torch.randn(32, 4))
