import torch
from torch import nn


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x, adjacency):
        h = torch.relu(adjacency @ self.one(x))
        return adjacency @ self.two(h)


torch.manual_seed(0)
nodes = 30
adjacency = (torch.rand(nodes, nodes) < 0.2).float() + torch.eye(nodes)
adjacency = adjacency / adjacency.sum(1, keepdim=True)
x, y = torch.randn(nodes, 8), torch.randint(0, 3, (nodes,))
net = GCN()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(10):
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x, adjacency), y).backward()
    optimizer.step()
