# The same with the error rate.
import torch
from torch import nn

torch.manual_seed(0)
x, xv = torch.randn(40, 20), torch.randn(200, 20)
y, yv = torch.randint(0, 2, (40,)), torch.randint(0, 2, (200,))
net = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=5)
for epoch in range(20):
    for batch in torch.randperm(40).split(8):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x[batch]), y[batch]).backward()
        optimizer.step()
    with torch.no_grad():
        out = net(xv)
        val = nn.functional.cross_entropy(out, yv).item()
        wrong = (out.argmax(1) != yv).float().mean().item()
    scheduler.step(wrong)
    print(epoch, val, wrong)
