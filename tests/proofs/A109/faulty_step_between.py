# Actor-critic: the critic steps before the actor's loss goes backward through it.
# line: 19
import torch
from torch import nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
critic = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(3):
    state, reward = torch.randn(32, 3), torch.randn(32, 1)
    action = actor(state)
    value = critic(torch.cat([state, action], dim=1))
    critic_loss = nn.functional.mse_loss(value, reward)
    actor_loss = -value.mean()
    critic_optimizer.zero_grad()
    critic_loss.backward(retain_graph=True)
    critic_optimizer.step()
    actor_optimizer.zero_grad()
    actor_loss.backward()
    actor_optimizer.step()
