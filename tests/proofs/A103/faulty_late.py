# In a second phase the clearing is forgotten, long after the first steps.
# line: 17, 19
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)


def step(clear):
    batch = torch.randint(0, 512, (32,))
    if clear:
        optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[batch]), y[batch])
    loss.backward()
    optimizer.step()


for i in range(400):
    step(clear=True)
for i in range(800):
    step(clear=False)
