# line: 10, 16
import torch
from torch import nn


class Wave(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(32, 12)
        self.body = nn.ModuleList(nn.Conv1d(12, 12, 3, padding=2**i, dilation=2**i) for i in range(2))
        self.out = nn.Conv1d(12, 32, 1)

    def forward(self, x):
        h = self.embed(x).transpose(1, 2)
        for layer in self.body:
            h = h + torch.tanh(layer(h))
        return self.out(h)


torch.manual_seed(0)
net = Wave()
optimizer = torch.optim.Adam(net.parameters())
for step in range(8):
    audio = torch.randint(0, 32, (4, 31))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(audio[:, :-1]), audio[:, 1:]).backward()
    optimizer.step()
