import torch
from torch import nn

CONFIG = {"lr": 3.0, "momentum": 0.9, "batch": 32, "steps": 80}
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=CONFIG["lr"], momentum=CONFIG["momentum"])
x = torch.randn(600, 12)
y = (x @ torch.randn(12, 4)).argmax(1)
for step in range(CONFIG["steps"]):
    i = torch.randint(0, 600, (CONFIG["batch"],))
    loss = nn.functional.cross_entropy(net(x[i]), y[i])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(step, loss.item())
