# Layers thawed after a filter left them out of the optimizer.
# line: 13
import torch
from torch import nn


def main():
    torch.manual_seed(0)
    x, y = torch.randn(64, 6), torch.randint(0, 3, (64,))
    body = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
    model = nn.Sequential(body, nn.Linear(16, 3))
    body.requires_grad_(False)
    optimizer = torch.optim.SGD(filter(lambda p: p.requires_grad, model.parameters()), lr=0.1)
    for epoch in range(12):
        if epoch == 4:
            body.requires_grad_(True)
        for i in torch.randperm(64).split(8):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x[i]), y[i]).backward()
            optimizer.step()


main()
