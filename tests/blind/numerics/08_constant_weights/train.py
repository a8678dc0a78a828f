import torch
from torch import nn


class Perceptron(nn.Module):
    def __init__(self, d, hidden, classes):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(d, hidden), nn.Linear(hidden, classes)
        for layer in (self.fc1, self.fc2):
            nn.init.constant_(layer.weight, 0.1)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


torch.manual_seed(0)
x = torch.randn(600, 6)
y = ((x[:, 0] > 0) ^ (x[:, 1] > 0)).long()
model = Perceptron(6, 24, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.2)
for epoch in range(5):
    for i in torch.randperm(600).split(30):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x[i]), y[i])
        loss.backward()
        opt.step()
    print(epoch, loss.item())
