# The variant that is not reentrant needs no input that requires grad.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block, self.head = nn.Sequential(nn.Linear(6, 16), nn.GELU()), nn.Linear(16, 2)

    def forward(self, x):
        return self.head(checkpoint(self.block, x, use_reentrant=False))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(12):
    x = torch.randn(16, 6)
    loss = nn.functional.cross_entropy(net(x), (x[:, 1] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
