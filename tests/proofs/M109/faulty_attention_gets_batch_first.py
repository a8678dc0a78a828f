# line: 10, 16
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(40, 24)
        self.attention = nn.MultiheadAttention(24, 4)
        self.norm = nn.LayerNorm(24)
        self.out = nn.Linear(24, 2)

    def forward(self, ids):
        h = self.embed(ids)
        mixed, _ = self.attention(h, h, h)
        return self.out(self.norm(h + mixed).mean(1))


torch.manual_seed(0)
net = Tagger()
optimizer = torch.optim.Adam(net.parameters())
for step in range(10):
    ids, label = torch.randint(0, 40, (20, 8)), torch.randint(0, 2, (20,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(ids), label).backward()
    optimizer.step()
