# A special initialisation is overwritten by a general one.
# line: 18
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
        self.out = nn.Linear(16, 1)
        nn.init.zeros_(self.out.weight)
        self.apply(self.init_weights)

    @staticmethod
    def init_weights(m):
        if isinstance(m, nn.Linear):
            nn.init.xavier_uniform_(m.weight)
            nn.init.zeros_(m.bias)

    def forward(self, x):
        return self.out(self.layers(x))


torch.manual_seed(0)
x = torch.randn(64, 8)
model = Net()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(10):
    opt.zero_grad()
    (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    opt.step()
