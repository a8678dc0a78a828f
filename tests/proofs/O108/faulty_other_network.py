# The target network is clipped, which no optimizer holds.
# line: 19
import copy

import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(policy)
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
for step in range(60):
    s, s2, a = torch.randn(32, 4), torch.randn(32, 4), torch.randint(0, 2, (32, 1))
    with torch.no_grad():
        goal = torch.rand(32) + 0.9 * target(s2).max(1).values
    loss = nn.functional.smooth_l1_loss(policy(s).gather(1, a).squeeze(1), goal)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(target.parameters(), 1.0)
    optimizer.step()
    if step % 20 == 19:
        target.load_state_dict(policy.state_dict())
