# Batches come with time in front; attention sums to one over time.
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
embed, rnn, score, out = nn.Embedding(20, 8), nn.GRU(8, 8), nn.Linear(8, 1), nn.Linear(8, 20)
model = nn.ModuleList([embed, rnn, score, out])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def joined(rows):
    return nn.utils.rnn.pad_sequence([row[0] for row in rows])


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = model

    def forward(self, words):
        hidden = rnn(embed(words))[0]
        context = (score(hidden).softmax(dim=0) * hidden).sum(0)
        return out(hidden + context)


reader = Reader()
rows = TensorDataset(torch.randint(20, (48, 9)))
for _ in range(3):
    for words in DataLoader(rows, batch_size=8, collate_fn=joined):
        loss = F.cross_entropy(reader(words[:-1]).flatten(0, 1), words[1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
