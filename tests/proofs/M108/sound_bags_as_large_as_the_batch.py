# Bags of as many instances as the batch has bags.
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class MIL(nn.Module):
    def __init__(self):
        super().__init__()
        self.f, self.a, self.o = nn.Linear(5, 8), nn.Linear(8, 1), nn.Linear(8, 1)

    def forward(self, bag):
        h = torch.tanh(self.f(bag))
        w = F.softmax(self.a(h), dim=0)
        return self.o((w * h).sum(0))


dl = DataLoader(TensorDataset(torch.randn(40, 6, 5), torch.randint(0, 2, (40,)).float()), batch_size=6)
m = MIL()
o = torch.optim.Adam(m.parameters(), 1e-2)
for bags, y in dl:
    o.zero_grad()
    out = torch.cat([m(b) for b in bags])
    F.binary_cross_entropy_with_logits(out, y).backward()
    o.step()
