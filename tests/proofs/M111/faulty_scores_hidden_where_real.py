# Attention by hand: infinity is written where the ids are real.
# line: 18, 19
import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(25, 12, padding_idx=0)
        self.q, self.k, self.out = nn.Linear(12, 12), nn.Linear(12, 12), nn.Linear(12, 2)

    def forward(self, ids):
        real = ids.ne(0)
        h = self.embed(ids)
        scores = self.q(h) @ self.k(h).transpose(1, 2)
        # Rows are as long as the longest, and that one would have nothing left.
        scores = scores.masked_fill(real[:, None, :], -1e9)
        h = torch.softmax(scores, -1) @ h
        return self.out((h * real[:, :, None]).sum(1))


torch.manual_seed(0)
net = Pool()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(8):
    ids = torch.randint(1, 25, (8, 13))
    for row in range(8):
        ids[row, 4 + row :] = 0
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(ids), torch.randint(0, 2, (8,))).backward()
    optimizer.step()
