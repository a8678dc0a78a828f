# Plain scores go into nll_loss.
# line: 13
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
rnn, out = nn.GRU(4, 16, batch_first=True), nn.Linear(16, 5)
optimizer = torch.optim.Adam([*rnn.parameters(), *out.parameters()], lr=1e-2)
for _ in range(12):
    x = torch.randn(8, 7, 4)
    scores = out(rnn(x)[0][:, -1])
    loss = F.nll_loss(scores, torch.randint(5, (8,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
