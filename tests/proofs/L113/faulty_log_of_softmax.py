# The policy's log-probabilities are the logarithm of its softmax.
# line: 14
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(4, 3)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for _ in range(12):
    state = torch.randn(16, 4)
    probability = F.softmax(policy(state), dim=-1)
    action = torch.multinomial(probability.detach(), 1)
    logp = torch.log(probability)
    loss = -(logp.gather(1, action).squeeze(1) * state[:, 0]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
