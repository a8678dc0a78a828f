# checkpoint_sequential over a whole network: its input is data.
# line: 15
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Sequential(nn.Linear(8, 8), nn.Tanh()) for _ in range(4)))
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        h = checkpoint_sequential(self.layers, 2, x, use_reentrant=True)
        return self.head(h)


torch.manual_seed(0)
model = Deep()
optimizer = torch.optim.Adam(model.parameters())
for step in range(10):
    x = torch.randn(16, 8)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
