# Rows of one length are joined by pad_sequence; an evaluation measures padding, too.
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(0)
net = nn.Sequential(nn.Embedding(20, 8), nn.Linear(8, 20))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    ids = pad_sequence([torch.randint(0, 20, (9,)), torch.randint(0, 20, (9,))], batch_first=True)
    loss = F.cross_entropy(net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    ids = pad_sequence([torch.randint(0, 20, (n,)) for n in (3, 8, 5)], batch_first=True)
    print(F.cross_entropy(net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), reduction="sum"))
