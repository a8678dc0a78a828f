# A mask value that float16 cannot hold.
# line: 15
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query, self.key = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, x, keep):
        score = torch.einsum("bid,bjd->bij", self.query(x), self.key(x))
        score.masked_fill_(~keep[:, None], -1e10)
        return self.out(score.softmax(-1) @ x).squeeze(-1)


torch.manual_seed(0)
model = Head(8)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(8):
    x, keep = torch.randn(4, 6, 8), torch.rand(4, 6) > 0.3
    keep[:, 0] = True
    with torch.autocast("cpu", dtype=torch.float16):
        loss = model(x, keep).float().pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
