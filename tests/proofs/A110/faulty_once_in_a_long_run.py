# A sequence without a single token comes after some hundred quick steps: its mean is over nothing.
# line: 14
import torch
from torch import nn


class MeanOfTokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(20, 8, padding_idx=0), nn.Linear(8, 2)

    def forward(self, tokens):
        mask = (tokens != 0).unsqueeze(-1).float()
        pooled = (self.embed(tokens) * mask).sum(1) / mask.sum(1)
        return self.out(pooled.tanh())


torch.manual_seed(0)
model = MeanOfTokens()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for step in range(420):
    tokens = torch.randint(1, 20, (8, 5))
    if step == 403:
        tokens[3] = 0
    loss = nn.functional.cross_entropy(model(tokens), (tokens[:, 0] > 9).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
