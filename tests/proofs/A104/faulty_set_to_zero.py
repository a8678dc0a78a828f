# The gradients become zeros, not None: weight decay still moves the weights.
# line: 16
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
for step in range(40):
    batch = torch.randint(0, 512, (32,))
    loss = nn.functional.mse_loss(model(x[batch]), y[batch])
    loss.backward()
    optimizer.zero_grad(set_to_none=False)
    optimizer.step()
print(loss.item())
