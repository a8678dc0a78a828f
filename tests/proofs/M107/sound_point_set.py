import torch
from torch import nn


class Scene(nn.Module):
    """One cloud at a time: the first axis are points."""

    def __init__(self):
        super().__init__()
        self.point, self.out = nn.Linear(3, 16), nn.Linear(32, 5)

    def forward(self, points):
        h = torch.relu(self.point(points))
        near = torch.softmax(-torch.cdist(points, points), dim=-1)
        whole = h.max(0, keepdim=True).values.expand_as(h)
        return self.out(torch.cat([near @ h, whole], 1))


torch.manual_seed(0)
net = Scene()
optimizer = torch.optim.Adam(net.parameters())
for step in range(10):
    points, part = torch.randn(50, 3), torch.randint(0, 5, (50,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(points), part).backward()
    optimizer.step()
