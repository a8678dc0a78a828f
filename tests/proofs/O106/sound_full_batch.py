# Every step is an epoch: the rate is stepped down and stays low.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.1)
for epoch in range(300):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    scheduler.step()
    if epoch % 50 == 0:
        with torch.no_grad():
            print(nn.functional.l1_loss(model(x), y).item())
