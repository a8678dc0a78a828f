# WGAN: the critic's weights are clipped after its step; the gradients before it.
import torch
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.RMSprop(generator.parameters(), lr=1e-3)
opt_c = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
for step in range(40):
    fake = generator(torch.randn(32, 4))
    opt_c.zero_grad()
    loss_c = critic(fake.detach()).mean() - critic(torch.randn(32, 2)).mean()
    loss_c.backward()
    nn.utils.clip_grad_norm_(critic.parameters(), 5.0)
    opt_c.step()
    with torch.no_grad():
        for p in critic.parameters():
            p.clamp_(-0.1, 0.1)
    if step % 2:
        opt_g.zero_grad()
        (-critic(fake).mean()).backward()
        nn.utils.clip_grad_norm_(generator.parameters(), 5.0)
        opt_g.step()
