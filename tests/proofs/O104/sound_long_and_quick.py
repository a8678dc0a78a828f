# Two optimizers by turns, a schedule over all steps, and accumulation: a thousand quick steps.
import torch
from torch import nn

torch.manual_seed(0)
critic, actor = nn.Linear(4, 1), nn.Linear(4, 4)
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-2)
of_actor = torch.optim.SGD(actor.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(of_critic, T_max=1000)
for step in range(1000):
    state = torch.randn(8, 4)
    of_critic.zero_grad()
    ((critic(actor(state).detach()) - state.sum(1, keepdim=True)) ** 2).mean().backward()
    nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
    of_critic.step()
    schedule.step()
    (-critic(actor(state)).mean() / 4).backward()
    if step % 4 == 3:
        of_actor.step()
        of_actor.zero_grad()
