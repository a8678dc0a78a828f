# One batch in eight holds nothing but padding.
# line: 17
# also: A110
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
embed, out = nn.Embedding(20, 8), nn.Linear(8, 20)
optimizer = torch.optim.SGD([*embed.parameters(), *out.parameters()], lr=0.1)
for step in range(16):
    words = torch.randint(1, 20, (4, 5))
    labels = words.clone()
    labels[:, 3:] = 0
    if step == 7:
        labels[:] = 0
    loss = F.cross_entropy(out(embed(words)).transpose(1, 2), labels, ignore_index=0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
