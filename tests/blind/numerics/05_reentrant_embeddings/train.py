import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

warnings.filterwarnings("ignore")


class Block(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(i, o), nn.LayerNorm(o), nn.GELU())

    def forward(self, x):
        return self.f(x)


class Net(nn.Module):
    def __init__(self, width=32, depth=3):
        super().__init__()
        self.blocks = nn.ModuleList([Block(8, width)] + [Block(width, width) for _ in range(depth - 1)])
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=True)
        return self.head(x)


torch.manual_seed(0)
x = torch.randn(512, 8)
y = x[:, :3].argmax(1)
model = Net()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
for step in range(80):
    i = torch.randint(0, 512, (32,))
    loss = nn.functional.cross_entropy(model(x[i]), y[i])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
