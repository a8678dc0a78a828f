# An actor keeps log-probabilities until its episode ends while a critic learns at every step.
import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(4, 2), nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-2)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
for episode in range(6):
    state, log_probs, advantages = torch.randn(4), [], []
    for t in range(20):
        choice = torch.distributions.Categorical(logits=actor(state))
        action = choice.sample()
        log_probs.append(choice.log_prob(action))
        following = 0.9 * state + 0.1 * torch.randn(4) + (action - 0.5) * 0.1
        reward = -following.pow(2).mean()
        with torch.no_grad():
            goal = reward + 0.9 * critic(following)
        value = critic(state)
        advantages.append((goal - value).detach())
        critic_loss = nn.functional.mse_loss(value, goal)
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()
        state = following.detach()
    loss = -(torch.stack(log_probs) * torch.stack(advantages).squeeze(1)).mean()
    actor_optimizer.zero_grad()
    loss.backward()
    actor_optimizer.step()
print(f"loss {loss.item():.4f}")
