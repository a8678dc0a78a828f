# The hidden state of a recurrent network goes into the next chunk; torch raises at the second backward.
# line: 12
import torch
from torch import nn

torch.manual_seed(0)
rnn, head = nn.GRU(1, 12, batch_first=True), nn.Linear(12, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()], lr=1e-2)
wave = torch.sin(torch.arange(0, 60, 0.1)).view(1, -1, 1)
state = torch.zeros(1, 1, 12)
for start in range(0, 400, 20):
    features, state = rnn(wave[:, start : start + 20], state)
    loss = nn.functional.mse_loss(head(features), wave[:, start + 1 : start + 21])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
