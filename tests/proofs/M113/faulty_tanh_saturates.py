# Weights a hundred times too large: every tanh stands at one end for all inputs of this range.
# line: 10
import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(3, 16)
        nn.init.uniform_(self.hidden.weight, 5, 20)
        nn.init.zeros_(self.hidden.bias)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(torch.tanh(self.hidden(x)))


torch.manual_seed(0)
policy = Policy()
optimizer = torch.optim.SGD(policy.parameters(), lr=1e-3)
for step in range(100):
    x = torch.rand(64, 3) + 1
    loss = (policy(x).squeeze(1) - x.sum(1)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
