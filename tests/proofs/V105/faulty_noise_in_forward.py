# Noise is made in forward on the default device.
# line: 14
# also: A103
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        noise = torch.randn(x.shape)
        x = torch.relu(x)
        return self.fc(x + noise)


net = Net().to("meta")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(2):
    net(torch.randn(8, 4, device="meta")).sum().backward()
    optimizer.step()
