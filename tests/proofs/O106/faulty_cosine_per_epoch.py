# A cosine over all steps, stepped after the epoch in a function.
# line: 22, 25
import torch
from torch import nn


def train_epoch(net, optimizer, x, y):
    for batch in torch.randperm(len(x)).split(20):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
    return loss.item()


def main(epochs=8):
    torch.manual_seed(0)
    x = torch.randn(400, 5)
    y = (x[:, 0] > 0).long()
    net = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 2))
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * 20)
    for epoch in range(epochs):
        print(train_epoch(net, optimizer, x, y))
        schedule.step()


main()
