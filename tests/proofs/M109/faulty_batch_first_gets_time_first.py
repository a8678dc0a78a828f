# line: 9, 13
import torch
from torch import nn


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(3, 12, batch_first=True)
        self.out = nn.Linear(12, 4)

    def forward(self, x):
        states, last = self.rnn(x)
        return self.out(states[-1])


torch.manual_seed(0)
net = Counter()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(10):
    x, y = torch.randn(6, 16, 3), torch.randint(0, 4, (16,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x), y).backward()
    optimizer.step()
