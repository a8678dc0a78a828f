# Stochastic weight averaging with update_bn, and BatchNorm statistics re-estimated by hand.
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, update_bn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
loader = DataLoader(TensorDataset(torch.randn(96, 4), torch.randn(96, 1)), batch_size=16, shuffle=True)
pool = DataLoader(TensorDataset(torch.randn(64, 4)), batch_size=16)
xv, yv = torch.randn(32, 4), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(4, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 1))
average = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(4):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    average.update_parameters(model)
update_bn(loader, average)
model.train()
with torch.no_grad():
    for (x,) in pool:
        model(x)
model.eval()
average.eval()
with torch.no_grad():
    print(nn.functional.mse_loss(model(xv), yv).item(), nn.functional.mse_loss(average(xv), yv).item())
