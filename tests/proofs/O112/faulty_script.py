# A script binds the target network to the online one and synchronises it now and then.
# line: 8
import torch
from torch import nn

torch.manual_seed(0)
q_net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
q_target = q_net
q_target.load_state_dict(q_net.state_dict())
optimizer = torch.optim.RMSprop(q_net.parameters(), lr=1e-3)
for step in range(60):
    state, following = torch.randn(2, 32, 3)
    action = torch.randint(0, 2, (32, 1))
    with torch.no_grad():
        goal = state[:, :1] + 0.9 * q_target(following).max(1, keepdim=True).values
    loss = nn.functional.mse_loss(q_net(state).gather(1, action), goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        q_target.load_state_dict(q_net.state_dict())
print(f"loss {loss.item():.4f}")
