import torch
from torch import nn


class Relative(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.r = (nn.Linear(16, 16) for _ in range(4))

    def shift(self, x):
        b, i, j = x.shape
        x = torch.cat([x.new_zeros(b, i, 1), x], dim=2)
        return x.view(b, j + 1, i)[:, 1:].reshape(b, i, j)

    def forward(self, x):
        t = x.shape[1]
        positions = torch.arange(t)[:, None] / torch.arange(1, 17)
        scores = self.q(x) @ self.k(x).mT + self.shift(self.q(x) @ self.r(torch.sin(positions)).T)
        return scores.tril().softmax(-1) @ self.v(x)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 16), Relative(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters())
for step in range(6):
    loss = net(torch.randn(3, 10, 5)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
