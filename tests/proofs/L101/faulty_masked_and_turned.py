# Softmax seen through a permutation, an epsilon, a clamp and a mask.
# line: 16
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class T(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.o = nn.Embedding(9, 8), nn.Linear(8, 9)

    def forward(self, x):
        return self.o(self.e(x)).softmax(-1)


m = T()
o = torch.optim.Adam(m.parameters(), 1e-2)
for _ in range(30):
    x = torch.randint(0, 9, (4, 6))
    keep = torch.rand(4, 6) > 0.3
    p = (m(x).permute(1, 0, 2) + 1e-8).clamp(1e-7, 1)[keep.T]
    o.zero_grad()
    F.cross_entropy(p, x.T[keep.T]).backward()
    o.step()
