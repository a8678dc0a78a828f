# Some sequences have length zero: all of their keys are masked and the softmax is over minus infinities only.
# line: 16
import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Linear(dim, 1)
        self.out = nn.Linear(dim, 2)

    def forward(self, x, length):
        padded = torch.arange(x.shape[1])[None] >= length[:, None]
        score = self.score(x).squeeze(-1).masked_fill(padded, float("-inf"))
        weight = score.softmax(dim=-1)
        return self.out((weight.unsqueeze(-1) * x).sum(1))


torch.manual_seed(1)
model = Pool(6)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
lengths = torch.randint(1, 6, (400,))
lengths[::90] = 0
data = torch.randn(400, 5, 6)
for step in range(50):
    rows = torch.randperm(400)[:16]
    optimizer.zero_grad()
    logits = model(data[rows], lengths[rows])
    loss = nn.functional.cross_entropy(logits, (data[rows, 0, 0] > 0).long())
    loss.backward()
    optimizer.step()
