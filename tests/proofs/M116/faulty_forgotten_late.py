# A check-up in the middle of a long quick run leaves evaluation mode on.
# line: 17
import torch
from torch import nn

torch.manual_seed(0)
data, target = torch.randn(64, 5), torch.randn(64, 1)
model = nn.Sequential(nn.Linear(5, 32), nn.BatchNorm1d(32), nn.Tanh(), nn.Dropout(0.2), nn.Linear(32, 1))
sgd = torch.optim.SGD(model.parameters(), lr=0.01)
model.train()
for step in range(800):
    rows = torch.randint(0, 64, (16,))
    sgd.zero_grad()
    nn.functional.mse_loss(model(data[rows]), target[rows]).backward()
    sgd.step()
    if step == 450:
        model.eval()
        with torch.no_grad():
            print(nn.functional.mse_loss(model(data), target).item())
