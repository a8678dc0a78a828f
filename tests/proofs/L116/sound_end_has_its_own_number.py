# The end is one token and the padding another; or the lengths tell which of the two it is.
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

PAD, END = 0, 1


def texts(count):
    for length in torch.randint(2, 12, (count,)).tolist():
        yield torch.cat([torch.randint(2, 20, (length,)), torch.tensor([END])])


def by_lengths(rows):
    labels = pad_sequence(rows, batch_first=True, padding_value=END)
    for row, text in enumerate(rows):
        labels[row, len(text) :] = -100
    return labels


torch.manual_seed(0)
embed, read, out = nn.Embedding(20, 8), nn.GRU(8, 16, batch_first=True), nn.Linear(16, 20)
model = nn.ModuleList([embed, read, out])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    rows = [text for text in texts(8)]
    ids = pad_sequence(rows, batch_first=True, padding_value=PAD)
    labels = ids.clone()
    labels[labels == PAD] = -100
    scores = out(read(embed(ids))[0])[:, :-1]
    loss = F.cross_entropy(scores.flatten(0, 1), labels[:, 1:].flatten())
    loss = loss + F.cross_entropy(scores.flatten(0, 1), by_lengths(rows)[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
