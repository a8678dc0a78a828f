# The logarithm of a rate that a ReLU cuts off: the loss is infinite, its gradients are not.
# line: 17
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 5)
counts = torch.poisson(x[:, 0].exp())
net = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
nn.init.constant_(net[2].bias, -0.1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(30):
    index = torch.randint(0, 400, (32,))
    rate = torch.relu(net(x[index])).squeeze(1)
    observed = counts[index] > 0
    surprise = rate - torch.where(observed, counts[index], 1.0)
    loss = (surprise - torch.log(rate)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
