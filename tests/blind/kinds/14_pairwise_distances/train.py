import torch
from torch import nn

torch.manual_seed(0)
points = torch.randn(300, 8)
true = torch.cdist(points[:, :3], points[:, :3])
embed = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(embed.parameters(), lr=2e-3)
for step in range(100):
    i = torch.randint(0, 300, (32,))
    z = embed(points[i]).squeeze(1)
    distance = (z[:, None] - z[None, :]).abs()
    loss = nn.functional.mse_loss(distance, true[i][:, i])
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
