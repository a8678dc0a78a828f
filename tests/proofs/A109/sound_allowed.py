# In-place operators that autograd allows, own buffers, updates under no_grad, both backwards before the steps.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv1d(1, 4, 3), nn.BatchNorm1d(4), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(24, 3))
critic = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
critic_optimizer = torch.optim.SGD(critic.parameters(), lr=0.05)
for step in range(4):
    out = net(torch.randn(8, 1, 8))
    rows = torch.zeros(8, 3)
    for i in range(3):
        rows[:, i] = out[:, i] * 2
    rows += 1
    value = critic(rows).mean()
    optimizer.zero_grad()
    critic_optimizer.zero_grad()
    value.backward(retain_graph=True)
    (value * 0.5).backward()
    optimizer.step()
    critic_optimizer.step()
    with torch.no_grad():
        critic.weight.mul_(0.99)
