import torch
from torch import nn

torch.manual_seed(0)
layers = [nn.Linear(8, 24), nn.Sigmoid()]
for _ in range(13):
    layers += [nn.Linear(24, 24), nn.Sigmoid()]
net = nn.Sequential(*layers, nn.Linear(24, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
x = torch.randn(640, 8)
y = (x[:, 0] + x[:, 1] > 0).long()
for epoch in range(6):
    for i in torch.randperm(640).split(32):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[i]), y[i])
        loss.backward()
        opt.step()
    print(epoch, loss.item())
