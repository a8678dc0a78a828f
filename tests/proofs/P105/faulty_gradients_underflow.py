# line: 14
# float16 under autocast without a GradScaler: gradients below 6e-8 are zero.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(20):
    x = torch.randn(1024, 16)
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.mse_loss(model(x).squeeze(1).float() * 1e-3, x[:, 0] * 1e-3)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
