# Actor and critic: log-probabilities, advantages and values all of one shape; a bonus by broadcasting a scalar.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-2)
for _ in range(12):
    state, reward = torch.randn(24, 4), torch.randn(24)
    policy = torch.distributions.Categorical(logits=actor(state))
    action = policy.sample()
    value = critic(state).squeeze(-1)
    advantage = (reward - value).detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    ratio = (policy.log_prob(action) - policy.log_prob(action).detach()).exp()
    loss = -(torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)).mean()
    loss = loss + 0.5 * F.mse_loss(value, reward) - 0.01 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
