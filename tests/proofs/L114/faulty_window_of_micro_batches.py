# All micro-batches of a window, then one step.
# line: 31
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


def train(model, windows, optimizer):
    for texts in windows:
        optimizer.zero_grad()
        parts = list(cut(texts, 2))
        for ids, following in parts:
            told = F.log_softmax(model(ids), dim=-1)
            loss = F.nll_loss(told.flatten(0, 1), following.flatten(), ignore_index=0)
            mean = loss / len(parts)
            mean.backward()
        optimizer.step()


torch.manual_seed(0)
texts = [torch.randint(1, 20, (int(torch.randint(3, 25, ())),)) for _ in range(48)]
model = Model()
train(model, [texts[i : i + 8] for i in range(0, 48, 8)], torch.optim.SGD(model.parameters(), lr=0.1))
