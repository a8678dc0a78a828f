# Time first; samples against samples; importance weights; nodes of one graph.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
rnn, score, out = nn.GRU(4, 8), nn.Linear(8, 1), nn.Linear(8, 3)
left, right, node = nn.Linear(4, 6), nn.Linear(4, 6), nn.Linear(4, 1)
everything = nn.ModuleList([rnn, score, out, left, right, node])
optimizer = torch.optim.Adam(everything.parameters(), lr=1e-2)
for _ in range(8):
    x = torch.randn(7, 10, 4)  # time, batch, features
    hidden = rnn(x)[0]
    pooled = (score(hidden).softmax(dim=0) * hidden).sum(0)
    loss = F.cross_entropy(out(pooled), torch.randint(3, (10,)))
    similar = left(x[0]) @ right(x[1]).t()
    loss = loss - similar.softmax(dim=0).diagonal().log().mean()
    weight = score(hidden[-1]).squeeze(1).softmax(dim=0).detach()
    loss = loss + (weight * F.cross_entropy(out(pooled), torch.randint(3, (10,)), reduction="none")).sum()
    graph = torch.randn(23, 4)
    loss = loss + (node(graph).softmax(dim=0) * graph).sum(0).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
