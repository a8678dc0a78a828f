# line: 15, 16
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(10, 16), nn.Linear(10, 16), nn.Linear(10, 24)
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        weights = torch.softmax(q @ k.T / 4.0, dim=-1)
        return self.out(weights @ v).squeeze(-1)


torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(192, 10), torch.randn(192)), batch_size=16, shuffle=True)
net = Attend()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for x, y in loader:
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
