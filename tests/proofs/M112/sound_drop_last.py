# drop_last, a last batch of one picture (BatchNorm2d has its pixels), one sample in evaluation mode.
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rows = DataLoader(TensorDataset(torch.randn(33, 4), torch.randn(33, 1)), batch_size=8, shuffle=True, drop_last=True)
pictures = DataLoader(TensorDataset(torch.randn(17, 1, 6, 6), torch.randn(17, 1)), batch_size=4)
flat = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
conv = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 1))
for model, loader in ((flat, rows), (conv, pictures)):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(model(x[:1]).item())
