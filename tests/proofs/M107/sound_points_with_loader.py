import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class EdgeConv(nn.Module):
    """Neighbours among the points of each cloud."""

    def __init__(self):
        super().__init__()
        self.lift, self.edge, self.head = nn.Linear(3, 16), nn.Linear(32, 16), nn.Linear(16, 4)

    def forward(self, points):
        h = self.lift(points)
        near = torch.cdist(points, points).topk(5, largest=False).indices
        rows = torch.arange(len(points))[:, None, None]
        around = h[rows, near]
        pairs = torch.cat([h.unsqueeze(2).expand_as(around), around], -1)
        return self.head(torch.relu(self.edge(pairs)).amax((1, 2)))


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(64, 20, 3), torch.randint(0, 4, (64,))), batch_size=8, shuffle=True)
model = EdgeConv()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(1):
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
