# A momentum encoder inside the network, in the optimizer, updated by hand.
import copy

import torch
from torch import nn


class BYOL(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
        self.target = copy.deepcopy(self.online)
        self.predictor = nn.Linear(8, 8)

    def forward(self, a, b):
        p = self.predictor(self.online(a))
        z = self.target(b).detach()
        return 2 - 2 * nn.functional.cosine_similarity(p, z).mean()

    def follow(self, tau=0.9):
        for o, t in zip(self.online.parameters(), self.target.parameters()):
            t.data.mul_(tau).add_((1 - tau) * o.data)


torch.manual_seed(0)
model = BYOL()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    x = torch.randn(32, 8)
    loss = model(x + 0.1 * torch.randn_like(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
    model.follow()
