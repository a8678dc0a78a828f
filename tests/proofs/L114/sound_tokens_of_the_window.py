# Sums over tokens, divided by the tokens of the whole window; and means weighted by their share of it.
import torch
import torch.nn.functional as F
from torch import nn


def cut(texts, size):
    for start in range(0, len(texts), size):
        ids = nn.utils.rnn.pad_sequence(texts[start : start + size], batch_first=True)
        yield ids[:, :-1], ids[:, 1:]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm, self.out = nn.Embedding(20, 8), nn.LSTM(8, 8, batch_first=True), nn.Linear(8, 20)

    def forward(self, ids):
        return self.out(self.lstm(self.embed(ids))[0])


def by_sums(model, windows, optimizer):
    for texts in windows:
        optimizer.zero_grad()
        tokens = sum(len(text) - 1 for text in texts)
        for ids, following in cut(texts, 2):
            loss = F.cross_entropy(model(ids).flatten(0, 1), following.flatten(), ignore_index=0, reduction="sum")
            (loss / tokens).backward()
        optimizer.step()


def by_shares(model, windows, optimizer):
    for texts in windows:
        optimizer.zero_grad()
        parts = list(cut(texts, 2))
        tokens = sum((following != 0).sum() for _, following in parts)
        for ids, following in parts:
            loss = F.cross_entropy(model(ids).flatten(0, 1), following.flatten(), ignore_index=0)
            (loss * ((following != 0).sum() / tokens)).backward()
        optimizer.step()


torch.manual_seed(0)
texts = [torch.randint(1, 20, (int(torch.randint(3, 25, ())),)) for _ in range(48)]
windows = [texts[i : i + 8] for i in range(0, 48, 8)]
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
by_sums(model, windows, optimizer)
by_shares(model, windows, optimizer)
