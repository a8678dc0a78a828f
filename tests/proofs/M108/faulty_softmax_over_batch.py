# line: 16
# also: M108
import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.score = nn.Linear(16, 1)
        self.out = nn.Linear(16, 3)

    def forward(self, ids):
        h = self.embed(ids)
        weights = self.score(h).squeeze(-1).softmax(dim=0)
        return self.out((weights.unsqueeze(-1) * h).sum(1))


torch.manual_seed(0)
net = Pool()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(10):
    ids, label = torch.randint(0, 20, (24, 7)), torch.randint(0, 3, (24,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(ids), label).backward()
    optimizer.step()
