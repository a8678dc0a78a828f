# Tensors are added up, and a number is taken now and then.
import torch
from torch import nn

device = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = torch.zeros((), device=device)
for step in range(20):
    loss = net(torch.randn(8, 4, device=device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.detach()
    if step % 10 == 9:
        print(step, loss.item())
print(total.item())
