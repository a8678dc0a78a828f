# A frozen backbone with a head that learns, an input that is optimised, a loss that is skipped when it has no graph.
import torch
from torch import nn

torch.manual_seed(0)
backbone, head = nn.Linear(4, 8), nn.Linear(8, 1)
backbone.requires_grad_(False)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(8, 4)
    loss = nn.functional.mse_loss(head(backbone(x)), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
picture = torch.zeros(1, 4, requires_grad=True)
head.requires_grad_(False)
head(backbone(picture)).sum().backward()
loss = torch.zeros(())
if loss.requires_grad:
    loss.backward()
