import torch
from torch import nn


class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(6, 16), nn.Linear(4, 16)
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(16, 2))

    def forward(self, a, b):
        joint = torch.cat([self.left(a), self.right(b)])
        return self.head(joint)[: len(a)]


torch.manual_seed(0)
a, b = torch.randn(640, 6), torch.randn(640, 4)
y = ((a[:, 0] + b[:, 0]) > 0).long()
net = Fusion()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(4):
    for i in torch.randperm(640).split(32):
        loss = nn.functional.cross_entropy(net(a[i], b[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
