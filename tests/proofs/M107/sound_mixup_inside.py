import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(10, 32), nn.Linear(32, 3)

    def forward(self, x, other, share):
        h = torch.relu(self.one(x))
        h = share * h + (1 - share) * h[other]
        return self.two(h)


torch.manual_seed(0)
net = Mixed()
optimizer = torch.optim.Adam(net.parameters())
loss_of = nn.CrossEntropyLoss()
for x, y in DataLoader(TensorDataset(torch.randn(256, 10), torch.randint(0, 3, (256,))), 32, shuffle=True):
    other, share = torch.randperm(len(x)), 0.7
    out = net(x, other, share)
    loss = share * loss_of(out, y) + (1 - share) * loss_of(out, y[other])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
