# zero_grad(set_to_none=False) at the end of the loop, several losses with a backward each.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 1)).tanh()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))

head = nn.Linear(16, 1)
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.05)
for step in range(40):
    batch = torch.randint(0, 512, (32,))
    hidden = model[1](model[0](x[batch]))
    first = nn.functional.mse_loss(model[2](hidden), y[batch])
    second = nn.functional.l1_loss(head(hidden), y[batch])
    first.backward(retain_graph=True)
    second.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
print(first.item(), second.item())
