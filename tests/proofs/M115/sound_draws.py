# Monte-Carlo dropout at the end, in the training mode the network still is in.
import torch
from torch import nn

torch.manual_seed(0)
x, y, xv = torch.randn(64, 4), torch.randn(64, 1), torch.randn(16, 4)
model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Dropout(0.2), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    if epoch % 4 == 3:
        with torch.no_grad():
            print(torch.stack([model(xv) for _ in range(6)]).std(dim=0).mean().item())
