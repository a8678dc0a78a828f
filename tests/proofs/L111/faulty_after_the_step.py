# Accuracy of the training batch, after the step.
# line: 18
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 5)
y = (x[:, 0] > 0).long()
m = nn.Linear(5, 3)
o = torch.optim.SGD(m.parameters(), 0.1)
for _ in range(20):
    out = m(x)
    loss = F.cross_entropy(out, y)
    o.zero_grad()
    loss.backward()
    o.step()
    acc = (out.detach().argmax() == y).float().mean()
print(acc)
