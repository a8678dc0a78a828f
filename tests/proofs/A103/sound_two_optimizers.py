# Two optimizers on one graph, cleared together after both steps.
import torch
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
        self.policy, self.value = nn.Linear(16, 2), nn.Linear(16, 1)

    def forward(self, s):
        h = self.body(s)
        return torch.distributions.Categorical(logits=self.policy(h)), self.value(h).squeeze(-1)


torch.manual_seed(6)
net = ActorCritic()
actor = torch.optim.Adam([*net.body.parameters(), *net.policy.parameters()], lr=3e-3)
critic = torch.optim.Adam(net.value.parameters(), lr=3e-3)
for update in range(40):
    s = torch.randn(32, 4)
    dist, value = net(s)
    a = dist.sample()
    reward = (a == (s[:, 0] > 0)).float()
    advantage = reward - value
    loss = -(dist.log_prob(a) * advantage.detach()).mean() + advantage.pow(2).mean()
    loss.backward()
    actor.step()
    critic.step()
    net.zero_grad()
print(reward.mean().item())
