# A frozen backbone in evaluation mode under gradients, meta-learning on a functional copy.
import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
backbone = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU()).requires_grad_(False).eval()
head = nn.Linear(8, 1)
optimizer = torch.optim.SGD(head.parameters(), lr=0.05)
for step in range(10):
    features = backbone(x)
    loss = nn.functional.mse_loss(head(features), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for task in range(4):
    head.eval()
    weights = dict(head.named_parameters())
    support = nn.functional.mse_loss(functional_call(head, weights, (features[:32],)), y[:32])
    slopes = torch.autograd.grad(support, list(weights.values()), create_graph=True)
    fast = {name: w - 0.1 * g for (name, w), g in zip(weights.items(), slopes)}
    query = nn.functional.mse_loss(functional_call(head, fast, (features[32:],)), y[32:])
    optimizer.zero_grad()
    query.backward()
    optimizer.step()
