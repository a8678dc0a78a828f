# Gradients of inputs, and of a network in evaluation mode, with an optimizer restored beside it.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters())
optimizer.load_state_dict(optimizer.state_dict())
model.eval()
importance = torch.zeros(4)
for step in range(40):
    x = torch.randn(8, 4, requires_grad=True)
    optimizer.zero_grad()
    model(x)[:, 0].sum().backward()
    importance += x.grad.abs().mean(0)
print(importance)
