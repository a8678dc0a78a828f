# Capsules: each lower one divides itself among the upper ones, and the upper ones sum over the lower.
import torch
from torch import nn


class Capsules(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(6, 5 * 4)
        self.agree = nn.Parameter(torch.randn(3, 5))
        self.turn = nn.Parameter(torch.randn(3, 5, 4, 4) * 0.3)

    def forward(self, x):
        lower = self.lift(x).view(len(x), 5, 4)
        votes = torch.einsum("nif,oifg->noig", lower, self.turn)
        shares = torch.softmax(self.agree, dim=0)
        upper = torch.einsum("oi,noig->nog", shares, votes)
        return upper.norm(dim=-1)


torch.manual_seed(0)
net = Capsules()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(8):
    x, y = torch.randn(12, 6), torch.randint(0, 3, (12,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
