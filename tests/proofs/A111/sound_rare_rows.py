# Rare rows of embeddings, an auxiliary head with a tiny weight, and layers frozen for the first steps.
import torch
from torch import nn

torch.manual_seed(0)
embed = nn.Embedding(5000, 8)
body = nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(8, 8), nn.LayerNorm(8), nn.ReLU())])
head, auxiliary = nn.Linear(8, 2), nn.Linear(8, 4)
parameters = [p for m in (embed, body, head, auxiliary) for p in m.parameters()]
optimizer = torch.optim.Adam(parameters, lr=1e-3)
body.requires_grad_(False)
for step in range(30):
    if step == 10:
        body.requires_grad_(True)
    ids = torch.randint(0, 5000, (32, 4))
    h = body(embed(ids).mean(1))
    loss = nn.functional.cross_entropy(head(h), ids[:, 0] % 2)
    loss = loss + 1e-7 * nn.functional.cross_entropy(auxiliary(h), ids[:, 1] % 4)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
