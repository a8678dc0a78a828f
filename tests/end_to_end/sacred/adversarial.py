import torch
from digest import tell
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 3))
critic = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(), nn.Linear(8, 1))
of_generator = torch.optim.RMSprop(generator.parameters(), lr=1e-2)
of_critic = torch.optim.RMSprop(critic.parameters(), lr=1e-2)
history = []
for step in range(20):
    real = torch.randn(4, 3)
    fake = generator(torch.randn(4, 2))
    of_critic.zero_grad()
    loss = critic(fake.detach()).mean() - critic(real).mean()
    loss.backward()
    of_critic.step()
    for p in critic.parameters():
        p.data.clamp_(-0.01, 0.01)
    if step % 3 == 0:
        of_generator.zero_grad()
        (-critic(fake).mean()).backward()
        of_generator.step()
    history.append(loss)  # keeps every graph
tell(history, generator, critic, of_generator, of_critic)
running = torch.zeros(())
for _ in range(20):
    running = running + critic(torch.randn(2, 3)).mean()
running.backward()
tell(running, critic)
