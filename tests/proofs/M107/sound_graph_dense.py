import torch
import torch.nn as nn
import torch.nn.functional as F


class Gcn(nn.Module):
    """A graph network: the first axis is nodes, and attention between them is the point."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 3)
        self.left, self.right = nn.Linear(16, 1), nn.Linear(16, 1)

    def forward(self, x, adjacency):
        h = torch.relu(self.first(x))
        score = F.leaky_relu(self.left(h) + self.right(h).t(), 0.2)
        weights = score.masked_fill(adjacency == 0, float("-inf")).softmax(dim=1)
        return self.second(weights @ h)


torch.manual_seed(0)
x, y = torch.randn(30, 8), torch.randint(0, 3, (30,))
adjacency = ((torch.rand(30, 30) < 0.2) | torch.eye(30, dtype=torch.bool)).float()
model = Gcn()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    loss = F.cross_entropy(model(x, adjacency), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
