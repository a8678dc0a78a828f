import torch
from torch import nn


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x, adjacency):
        h = torch.relu(torch.spmm(adjacency, self.one(x)))
        return torch.log_softmax(torch.spmm(adjacency, self.two(h)), dim=1)


torch.manual_seed(0)
adjacency = ((torch.rand(30, 30) < 0.2).float() / 6 + torch.eye(30)).to_sparse()
x, y, known = torch.randn(30, 8), torch.randint(0, 3, (30,)), torch.arange(12)
net = GCN()
optimizer = torch.optim.Adam(net.parameters())
for epoch in range(10):
    optimizer.zero_grad()
    nn.functional.nll_loss(net(x, adjacency)[known], y[known]).backward()
    optimizer.step()
