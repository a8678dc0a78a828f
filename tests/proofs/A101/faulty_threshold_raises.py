# A threshold on the output: backward() raises, the cut explains it.
# line: 13
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 4)
y = (x[:, :1] > 0).float()
model = nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10):
    p = torch.sigmoid(model(x))
    decision = (p > 0.5).float()
    loss = nn.functional.mse_loss(decision, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
