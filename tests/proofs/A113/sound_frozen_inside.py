# What is checkpointed is frozen itself: only the head learns, as is meant. Evaluation is under no_grad.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 16), nn.ReLU()).requires_grad_(False)
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(checkpoint(self.body, x, use_reentrant=True))


torch.manual_seed(0)
probe = Probe()
optimizer = torch.optim.SGD(probe.head.parameters(), lr=0.1)
for step in range(12):
    x = torch.randn(16, 6)
    loss = nn.functional.cross_entropy(probe(x), (x[:, 1] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
probe.eval()
with torch.no_grad():
    print(probe(torch.randn(4, 6)).argmax(1))
