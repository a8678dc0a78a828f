# Always-on dropout written out with training=True (a prenet that is random on purpose), and inplace dropout by mode.
import torch
from torch import nn
from torch.nn import functional as F


class Prenet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 16), nn.Linear(16, 16)])

    def forward(self, x):
        for layer in self.layers:
            x = F.dropout(F.relu(layer(x)), p=0.5, training=True)
        return x


torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
net = nn.Sequential(Prenet(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(5):
    net.train()
    optimizer.zero_grad()
    F.mse_loss(net(x), y).backward()
    optimizer.step()
net.eval()
with torch.no_grad():
    print(F.mse_loss(net(x), y).item())
