# Softmax inside the attention, probabilities as targets, softmax for the accuracy: all as it should be.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.out = nn.Linear(8, 1), nn.Linear(8, 3)

    def forward(self, x):
        weight = self.score(x).softmax(dim=1)
        return self.out((weight * x).sum(1))


reader, teacher = Reader(), Reader().requires_grad_(False)
optimizer = torch.optim.Adam(reader.parameters(), lr=1e-2)
for _ in range(12):
    x = torch.randn(16, 5, 8)
    logits = reader(x)
    loss = F.cross_entropy(logits, teacher(x).softmax(1)) + F.cross_entropy(logits / 0.5, torch.randint(3, (16,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    confidence = logits.softmax(1).max(1).values.mean().item()
