# nn.Dropout built in forward(): a new layer is in training mode.
# line: 13
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(4, 16), nn.Linear(16, 1)

    def forward(self, x):
        return self.out(nn.Dropout(0.5)(torch.relu(self.hidden(x))))


torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
net, criterion = Net(), nn.MSELoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(5):
    net.train()
    optimizer.zero_grad()
    criterion(net(x), y).backward()
    optimizer.step()
net.eval()
with torch.no_grad():
    print(criterion(net(x), y).item())
