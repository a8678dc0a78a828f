# nn.ReLU(inplace=True) after an operator that keeps its output.
# line: 14
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.act, self.out = nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Linear(8, 1)

    def forward(self, x):
        gate = torch.sigmoid(self.fc(x))
        return self.out(self.act(gate) * gate)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    optimizer.zero_grad()
    net(torch.randn(16, 4)).pow(2).mean().backward()
    optimizer.step()
