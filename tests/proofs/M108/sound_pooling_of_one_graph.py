# Attention over the nodes of one graph, with a label for each node.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.g, self.o = nn.Linear(6, 8), nn.Linear(8, 1), nn.Linear(16, 3)

    def forward(self, x, adj):
        h = torch.relu(adj @ self.l(x))
        c = (F.softmax(self.g(h), dim=0) * h).sum(0, keepdim=True).expand(len(x), -1)
        return self.o(torch.cat([h, c], 1))


x = torch.randn(30, 6)
adj = torch.eye(30) + (torch.rand(30, 30) < 0.1).float()
y = (x[:, 0] > 0).long()
m = Net()
o = torch.optim.Adam(m.parameters(), 1e-2)
for _ in range(40):
    o.zero_grad()
    F.nll_loss(F.log_softmax(m(x, adj), dim=1), y).backward()
    o.step()
