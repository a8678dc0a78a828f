# Micro-batches of sequences of one length; and padded ones with a step for each.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
embed, out = nn.Embedding(20, 8), nn.Linear(8, 20)
optimizer = torch.optim.SGD([*embed.parameters(), *out.parameters()], lr=0.1)
ids = torch.randint(1, 20, (64, 12))
for turn in range(16):
    rows = ids[4 * turn : 4 * turn + 4]
    loss = F.cross_entropy(out(embed(rows[:, :-1])).flatten(0, 1), rows[:, 1:].flatten(), ignore_index=0)
    (loss / 4).backward()
    if turn % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()

texts = [torch.randint(1, 20, (int(torch.randint(3, 25, ())),)) for _ in range(32)]
for start in range(0, 32, 4):
    rows = nn.utils.rnn.pad_sequence(texts[start : start + 4], batch_first=True)
    loss = F.cross_entropy(out(embed(rows[:, :-1])).flatten(0, 1), rows[:, 1:].flatten(), ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
