# Embeddings are divided by their length, and after the ReLU a row can be zero throughout.
# line: 15
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 4)
        self.second = nn.Linear(4, 3)

    def forward(self, x):
        h = torch.relu(self.first(x))
        h = h / h.norm(dim=1, keepdim=True)
        return self.second(h)


torch.manual_seed(0)
encoder = Encoder()
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05, momentum=0.9)
for step in range(80):
    x = torch.randn(4, 6) + 0.8
    y = (x.sum(1) > 4.8).long()
    optimizer.zero_grad()
    nn.functional.cross_entropy(encoder(x), y).backward()
    optimizer.step()
