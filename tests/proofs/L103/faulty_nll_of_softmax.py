# The forward returns probabilities, the loop uses NLLLoss.
# line: 14
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(9, 20), nn.Linear(20, 6)
        self.last = nn.Softmax(-1)

    def forward(self, x):
        return self.last(self.fc2(F.relu(self.fc1(x))))


net, criterion = Net(), nn.NLLLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for _ in range(12):
    x = torch.randn(24, 9)
    loss = criterion(net(x), x[:, :6].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
