# Tags are padded with a class of their own, and it counts.
# line: 43
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence


class Tagger(nn.Module):
    def __init__(self, words, tags):
        super().__init__()
        self.embed = nn.Embedding(words, 12, padding_idx=0)
        self.rnn = nn.GRU(12, 16, batch_first=True, bidirectional=True)
        self.out = nn.Linear(32, tags)

    def forward(self, words):
        return self.out(self.rnn(self.embed(words))[0])


def sentences(count):
    for length in torch.randint(3, 15, (count,)).tolist():
        words = torch.randint(1, 30, (length,))
        yield words, words % 4 + 1


def batch(rows):
    words, tags = zip(*rows)
    return joined(words), joined(tags)


def joined(rows):
    return pad_sequence(list(rows), batch_first=True)


torch.manual_seed(0)
rows = list(sentences(96))
tagger = Tagger(30, 5)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.Adam(tagger.parameters(), lr=1e-3)
for start in range(0, 96, 12):
    words, tags = batch(rows[start : start + 12])
    scores = tagger(words)
    optimizer.zero_grad()
    loss = criterion(scores.view(-1, 5), tags.view(-1))
    loss.backward()
    optimizer.step()
