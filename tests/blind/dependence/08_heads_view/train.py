import torch
from torch import nn

from attention import MultiHead


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 24)
        self.attn = MultiHead(24, 3)
        self.out = nn.Linear(24, 12)

    def forward(self, ids):
        h = self.embed(ids)
        return self.out(h + self.attn(h))


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(100):
    ids = torch.randint(0, 12, (24, 10))
    target = torch.sort(ids, dim=1).values
    loss = nn.functional.cross_entropy(model(ids).transpose(1, 2), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
