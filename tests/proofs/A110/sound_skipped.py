# A batch that gives NaN is left out by the program.
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
left_out = 0
for step in range(60):
    x = torch.randn(16, 4)
    if step % 7 == 3:
        x[0] = float("nan")
    loss = nn.functional.mse_loss(net(x).squeeze(1), x[:, 0])
    if not torch.isfinite(loss):
        left_out += 1
        continue
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(left_out)
