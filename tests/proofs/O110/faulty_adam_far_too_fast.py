# Adam with a learning rate of 0.5 throws the biases far below zero in the first steps.
# line: 23
# also: M113
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.out = nn.Linear(20, 32), nn.Linear(32, 32), nn.Linear(32, 4)

    def forward(self, x):
        x = nn.functional.relu(self.first(x))
        x = nn.functional.relu(self.second(x))
        return self.out(x)


torch.manual_seed(0)
x = torch.rand(512, 20)
y = x[:, :4].argmax(1)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.5)
for step in range(140):
    rows = torch.randint(0, 512, (32,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
    optimizer.step()
