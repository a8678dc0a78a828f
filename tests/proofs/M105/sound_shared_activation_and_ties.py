# Shared ReLU and PReLU, tied weights, one layer called in a loop, copies.
import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        act, gate = nn.ReLU(), nn.PReLU()
        layer = nn.Linear(8, 8)
        self.body = nn.Sequential(nn.Linear(8, 8), act, nn.Linear(8, 8), act, nn.Linear(8, 8), gate, layer, gate)
        self.copies = nn.ModuleList(copy.deepcopy(layer) for _ in range(2))
        self.recurrent = nn.Linear(8, 8)
        self.embed = nn.Embedding(10, 8)
        self.out = nn.Linear(8, 10, bias=False)
        self.out.weight = self.embed.weight

    def forward(self, ids):
        h = self.body(self.embed(ids))
        for layer in self.copies:
            h = h + layer(h)
        for _ in range(3):
            h = torch.tanh(self.recurrent(h))
        return self.out(h)


torch.manual_seed(0)
ids = torch.randint(0, 10, (64,))
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(12):
    opt.zero_grad()
    nn.functional.cross_entropy(net(ids), (ids + 1) % 10).backward()
    opt.step()
