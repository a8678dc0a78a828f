# Padding is left out by ignore_index, by a mask of the lengths, by choice, and by a weight of zero.
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(0)
embed, read, out = nn.Embedding(20, 8, padding_idx=0), nn.GRU(8, 16, batch_first=True), nn.Linear(16, 20)
model = nn.ModuleList([embed, read, out])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
weight = torch.ones(20)
weight[0] = 0.0
for _ in range(6):
    lengths = torch.randint(2, 12, (8,))
    ids = pad_sequence([torch.randint(1, 20, (n,)) for n in lengths.tolist()], batch_first=True)
    scores, following = out(read(embed(ids[:, :-1]))[0]), ids[:, 1:]
    loss = F.cross_entropy(scores.flatten(0, 1), following.flatten(), ignore_index=0)
    each = F.cross_entropy(scores.flatten(0, 1), following.flatten(), reduction="none")
    real = (following != 0).flatten()
    loss = loss + (each * real).sum() / real.sum()
    loss = loss + F.cross_entropy(scores[following != 0], following[following != 0])
    loss = loss + F.cross_entropy(scores.flatten(0, 1), following.flatten(), weight=weight)
    labels = following.clone()
    for row, length in enumerate(lengths.tolist()):
        labels[row, length - 1 :] = -100
    loss = loss + F.cross_entropy(scores.flatten(0, 1), labels.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
