import torch
from torch import nn


class Mixer(nn.Module):
    def __init__(self, dim=16, tokens=36):
        super().__init__()
        self.stem = nn.Conv2d(3, dim, 2, stride=2)
        self.mix = nn.Sequential(nn.Linear(tokens, tokens), nn.GELU(), nn.Linear(tokens, tokens))
        self.channel = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.GELU())
        self.up = nn.ConvTranspose2d(dim, 3, 2, stride=2)

    def forward(self, x):
        maps = self.stem(x)
        b, c, h, w = maps.shape
        t = maps.flatten(2)
        t = (t + self.mix(t)).transpose(1, 2)
        t = t + self.channel(t)
        return self.up(t.transpose(1, 2).reshape(b, c, h, w))


torch.manual_seed(0)
clean = torch.rand(300, 3, 12, 12).round()
net = Mixer()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(80):
    i = torch.randint(0, 300, (24,))
    loss = nn.functional.l1_loss(net(clean[i] + 0.2 * torch.randn(24, 3, 12, 12)), clean[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
