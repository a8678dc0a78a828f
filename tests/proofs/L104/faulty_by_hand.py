# A squared error by hand between (N, 1) and (N,).
# line: 15
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

x = torch.randn(96, 4)
loader = DataLoader(TensorDataset(x, x @ torch.tensor([1.0, -2.0, 3.0, 0.5])), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(3):
    for features, price in loader:
        error = model(features) - price
        loss = error.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
