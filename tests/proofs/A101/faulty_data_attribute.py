# A tensor's .data between two parts of a network.
# line: 16
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.mix = nn.Linear(8, 8)
        self.out = nn.Linear(8, 3)

    def forward(self, ids):
        e = self.embed(ids)
        pooled = e.data.mean(1)
        return self.out(torch.relu(self.mix(pooled)))


torch.manual_seed(0)
ids = torch.randint(0, 20, (64, 5))
y = ids.sum(1) % 3
net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
for epoch in range(6):
    for i in torch.randperm(64).split(16):
        loss = nn.functional.cross_entropy(net(ids[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
