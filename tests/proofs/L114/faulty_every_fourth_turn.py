# A step after every fourth micro-batch, each a mean over its own words.
# line: 44
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

BLANK = -1


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30, 12)
        self.read = nn.GRU(12, 16, batch_first=True)
        self.tags = nn.Linear(16, 5)

    def forward(self, ids):
        return self.tags(self.read(self.words(ids))[0])


def sentences(count):
    for _ in range(count):
        length = int(torch.randint(2, 20, ()))
        words = torch.randint(0, 30, (length,))
        yield words, words % 5


def padded(rows):
    words = pad_sequence([row[0] for row in rows], batch_first=True)
    tags = pad_sequence([row[1] for row in rows], batch_first=True, padding_value=BLANK)
    return words, tags


torch.manual_seed(0)
tagger = Tagger()
criterion = nn.CrossEntropyLoss(ignore_index=BLANK)
optimizer = torch.optim.Adam(tagger.parameters(), lr=1e-3)
corpus = list(sentences(64))
optimizer.zero_grad()
for turn, start in enumerate(range(0, 64, 2)):
    words, tags = padded(corpus[start : start + 2])
    scores = tagger(words)
    loss = criterion(scores.transpose(1, 2), tags) / 4
    loss.backward()
    if (turn + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
