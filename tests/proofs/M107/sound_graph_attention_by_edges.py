import torch
from torch import nn


class GAT(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin, self.att, self.out = nn.Linear(6, 16), nn.Linear(32, 1), nn.Linear(16, 4)

    def forward(self, x, edges):
        h = self.lin(x)
        source, target = edges
        score = torch.exp(self.att(torch.cat([h[source], h[target]], 1)).squeeze(1).clamp(max=5))
        total = torch.zeros(len(x)).index_add(0, target, score) + 1e-9
        weight = score / total[target]
        h = torch.zeros_like(h).index_add(0, target, weight[:, None] * h[source])
        return self.out(torch.relu(h))


torch.manual_seed(0)
x, y, edges = torch.randn(40, 6), torch.randint(0, 4, (40,)), torch.randint(0, 40, (2, 160))
net = GAT()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(10):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x, edges), y).backward()
    optimizer.step()
