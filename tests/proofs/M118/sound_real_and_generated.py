import torch
from torch import nn

torch.manual_seed(0)
maker, critic = nn.Linear(4, 12), nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 1))
g, d = torch.optim.Adam(maker.parameters()), torch.optim.Adam(critic.parameters())
bce = nn.functional.binary_cross_entropy_with_logits
for step in range(8):
    real, fake = torch.randn(16, 12), maker(torch.randn(16, 4))
    d.zero_grad()
    both = torch.cat([real, fake.detach()])
    labels = torch.cat([torch.ones(16), torch.zeros(16)])
    bce(critic(both).squeeze(1), labels).backward()
    d.step()
    g.zero_grad()
    bce(critic(fake).squeeze(1), torch.ones(16)).backward()
    g.step()
