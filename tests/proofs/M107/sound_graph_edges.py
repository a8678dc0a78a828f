import torch
import torch.nn as nn
import torch.nn.functional as F


class Sage(nn.Module):
    def __init__(self):
        super().__init__()
        self.own, self.other, self.head = nn.Linear(8, 16), nn.Linear(8, 16), nn.Linear(16, 3)

    def forward(self, x, edges):
        source, target = edges
        h = self.other(x)[source]
        gathered = torch.zeros(len(x), 16).index_add(0, target, h)
        return self.head(torch.relu(self.own(x) + gathered))


torch.manual_seed(0)
x, y, edges = torch.randn(30, 8), torch.randint(0, 3, (30,)), torch.randint(0, 30, (2, 90))
model = Sage()
opt = torch.optim.Adam(model.parameters(), 1e-3)
for _ in range(8):
    loss = F.cross_entropy(model(x, edges), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
