# The negative loss, maximised.
import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau

torch.manual_seed(0)
centers = torch.randn(5, 10)
label = torch.randint(0, 5, (900,))
data = centers[label] + 1.2 * torch.randn(900, 10)
x, y, xv, yv = data[:600], label[:600], data[600:], label[600:]
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 5))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
scheduler = ReduceLROnPlateau(optimizer, mode="max", patience=2)
for epoch in range(12):
    net.train()
    total = 0.0
    for batch in torch.randperm(600).split(60):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
        total += loss.item()
    net.eval()
    with torch.no_grad():
        out = net(xv)
        right = (out.argmax(1) == yv).float().mean().item()
        val = nn.functional.cross_entropy(out, yv).item()
    scheduler.step(-val)
    print(epoch, total / 10, val, right, optimizer.param_groups[0]["lr"])
