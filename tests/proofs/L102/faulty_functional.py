# The multi-label scores are squashed just before the loss, in a helper of its own.
# line: 13
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
linear = nn.Linear(12, 6)
optimizer = torch.optim.SGD(linear.parameters(), lr=0.1)


def score(x):
    return linear(x).sigmoid().clamp(0.01, 0.99)


for _ in range(10):
    x = torch.randn(20, 12)
    optimizer.zero_grad()
    F.binary_cross_entropy_with_logits(score(x), (x[:, :6] > 0).float()).backward()
    optimizer.step()
