# Padding is left out of the labels by its value, and the end of the text has that value, too.
# line: 18
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

END = 1


def texts(count):
    for length in torch.randint(2, 12, (count,)).tolist():
        yield torch.cat([torch.randint(2, 20, (length,)), torch.tensor([END])])


def labelled(ids):
    labels = ids.clone()
    labels[ids == END] = -100
    return labels


torch.manual_seed(0)
embed, read, out = nn.Embedding(20, 8), nn.GRU(8, 16, batch_first=True), nn.Linear(16, 20)
model = nn.ModuleList([embed, read, out])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    ids = pad_sequence([text for text in texts(8)], batch_first=True, padding_value=END)
    labels = labelled(ids)
    scores = out(read(embed(ids))[0])
    loss = F.cross_entropy(scores[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
