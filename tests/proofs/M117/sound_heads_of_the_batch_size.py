import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TimeFirst(nn.Module):
    """Heads are merged with the batch, and one is as wide as the batch is large."""

    def __init__(self):
        super().__init__()
        self.inner, self.q, self.k, self.v, self.out = (
            nn.Linear(5, 32),
            *(nn.Linear(32, 32) for _ in range(3)),
            nn.Linear(32, 3),
        )

    def forward(self, x):
        h = self.inner(x).transpose(0, 1)
        t, b, c = h.shape
        q, k, v = (f(h).contiguous().view(t, b * 4, c // 4).transpose(0, 1) for f in (self.q, self.k, self.v))
        h = F.scaled_dot_product_attention(q, k, v).transpose(0, 1).contiguous().view(t, b, c)
        return self.out(h.mean(0))


torch.manual_seed(0)
net = TimeFirst()
optimizer = torch.optim.Adam(net.parameters())
for x, y in DataLoader(TensorDataset(torch.randn(64, 7, 5), torch.randint(0, 3, (64,))), 8, shuffle=True):
    optimizer.zero_grad()
    F.cross_entropy(net(x), y).backward()
    optimizer.step()
