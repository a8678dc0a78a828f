# Policy rollouts under no_grad with a network that has neither dropout nor BatchNorm, and a line search.
import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
model = nn.Sequential(nn.Linear(3, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
fit = torch.optim.SGD(model.parameters(), lr=0.1)
for iteration in range(5):
    states, actions = [], []
    with torch.no_grad():
        for _ in range(12):
            state = torch.randn(1, 3)
            states.append(state)
            actions.append(torch.distributions.Categorical(logits=policy(state)).sample())
    states, actions = torch.cat(states), torch.cat(actions)
    log_probs = torch.distributions.Categorical(logits=policy(states)).log_prob(actions)
    loss = -(log_probs * torch.randn(12)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    x, y = torch.randn(32, 3), torch.randn(32, 1)
    before = nn.functional.mse_loss(model(x), y)
    fit.zero_grad()
    before.backward()
    fit.step()
    with torch.no_grad():
        after = nn.functional.mse_loss(model(x), y)
    fit.param_groups[0]["lr"] *= 0.5 if after > before else 1.1
