import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.out = nn.Linear(9, 1)

    def forward(self, x):
        h = torch.relu(self.conv(x))
        spread = h.std(0, unbiased=False).mean().expand(len(x), 1, 8, 8)
        return self.out(torch.cat([h, spread], 1).mean((2, 3))).squeeze(1)


torch.manual_seed(0)
critic, maker = Critic(), nn.Sequential(nn.Linear(4, 64), nn.Tanh())
d, g = torch.optim.Adam(critic.parameters()), torch.optim.Adam(maker.parameters())
bce = nn.BCEWithLogitsLoss()
for (real,) in DataLoader(TensorDataset(torch.randn(128, 1, 8, 8)), 16, shuffle=True):
    fake = maker(torch.randn(16, 4)).view(16, 1, 8, 8)
    d.zero_grad()
    (bce(critic(real), torch.ones(16)) + bce(critic(fake.detach()), torch.zeros(16))).backward()
    d.step()
    g.zero_grad()
    bce(critic(fake), torch.ones(16)).backward()
    g.step()
