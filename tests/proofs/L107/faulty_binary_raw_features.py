# line: 15
# also: D107
# Raw features (income, age) into a binary classifier.
import torch
from torch import nn

torch.manual_seed(0)
income, age = torch.rand(512, 1) * 9e4 + 1e4, torch.rand(512, 1) * 60 + 18
features = torch.cat([income, age], 1)
default = ((income < 3e4) & (age < 40)).float()
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
criterion = nn.BCEWithLogitsLoss()
for x, y in zip(features.split(64), default.split(64), strict=True):
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
