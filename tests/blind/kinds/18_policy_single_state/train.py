import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 24), nn.Tanh(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
baseline = 0.0
for episode in range(120):
    log_probs, rewards = [], []
    for _ in range(8):
        state = torch.randn(4)
        probs = policy(state).softmax(dim=0)
        dist = torch.distributions.Categorical(probs)
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(float(action.item() == int(state[:3].argmax())))
    returns = torch.tensor(rewards) - baseline
    loss = -(torch.stack(log_probs) * returns).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline = 0.95 * baseline + 0.05 * sum(rewards) / 8
print("baseline", round(baseline, 3))
