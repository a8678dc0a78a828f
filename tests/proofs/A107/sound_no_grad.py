# no_grad, inference_mode, a saliency map, a teacher in evaluation mode, one forward at the end.
import copy

import torch
from torch import nn

torch.manual_seed(0)
x, y, xv, yv = torch.randn(96, 4), torch.randn(96, 1), torch.randn(32, 4), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))
teacher = copy.deepcopy(model).eval()
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    model.train()
    for idx in torch.randperm(96).split(16):
        goal = 0.5 * y[idx] + 0.5 * teacher(x[idx]).detach()
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[idx]), goal).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad() if epoch else torch.inference_mode():
        print(epoch, nn.functional.mse_loss(model(xv), yv).item())
    for sample in xv.split(8):
        sample = sample.clone().requires_grad_()
        model(sample).sum().backward()
        print(sample.grad.abs().mean().item())
    optimizer.zero_grad()
print(model(xv).mean().item())
