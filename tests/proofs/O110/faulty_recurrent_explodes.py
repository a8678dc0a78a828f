# A recurrent network without clipping at a bold learning rate.
# line: 8
import torch
from torch import nn

torch.manual_seed(0)
rnn, head = nn.RNN(4, 16, nonlinearity="relu", batch_first=True), nn.Linear(16, 1)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.5, momentum=0.9)
for step in range(40):
    x = torch.randn(16, 12, 4)
    out, _ = rnn(x)
    loss = (head(out[:, -1]).squeeze(1) - x.sum((1, 2))).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
