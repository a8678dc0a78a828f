import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, stride=2)
        self.fc = nn.Linear(8 * 49, 4)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1))


images = torch.randn(256, 3, 16, 16)
labels = torch.randint(0, 4, (256,))
onehot = nn.functional.one_hot(labels, 4)
net = Net()
criterion = nn.CrossEntropyLoss()
sgd = torch.optim.SGD(net.parameters(), lr=0.01)
for epoch in range(3):
    for i in torch.randperm(256).split(32):
        sgd.zero_grad()
        loss = criterion(net(images[i]), onehot[i])
        loss.backward()
        sgd.step()
