# A loss function of one's own forgets the mean; it is called from a training function.
# line: 8
import torch
from torch import nn


def squared(prediction, target):
    return (prediction - target) ** 2


def train(net, optimizer):
    for _ in range(3):
        x = torch.randn(8, 4)
        loss = squared(net(x), x[:, :1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
train(net, torch.optim.Adam(net.parameters()))
