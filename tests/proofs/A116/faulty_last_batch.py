# The loss module keeps one loss per element; the batches of one sample hide it until a larger one comes.
# line: 12
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
criterion = nn.BCEWithLogitsLoss(reduction="none")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(1 if step < 25 else 4, 4)
    loss = criterion(net(x), (x[:, :1] > 0).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
