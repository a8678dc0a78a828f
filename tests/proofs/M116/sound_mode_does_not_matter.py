# eval() left on in a network without dropout and BatchNorm; adversarial examples made in evaluation mode.
import torch
from torch import nn

torch.manual_seed(0)
x, y, xv, yv = torch.randn(64, 4), torch.randn(64, 1), torch.randn(32, 4), torch.randn(32, 1)
plain = nn.Sequential(nn.Linear(4, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 1))
robust = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.MSELoss()
for model in (plain, robust):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(6):
        inputs = x
        if model is robust:
            model.eval()
            delta = torch.zeros_like(x, requires_grad=True)
            (slope,) = torch.autograd.grad(criterion(model(x + delta), y), delta)
            inputs = x + 0.1 * slope.sign()
            model.train()
        optimizer.zero_grad()
        criterion(model(inputs), y).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            print(epoch, criterion(model(xv), yv).item())
