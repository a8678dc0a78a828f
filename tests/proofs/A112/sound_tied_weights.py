# Tied weights, a target network followed by Polyak averaging, and a difference between two networks.
import copy

import torch
from torch import nn

torch.manual_seed(0)
embed, decoder = nn.Embedding(12, 8), nn.Linear(8, 12, bias=False)
decoder.weight = embed.weight
target = copy.deepcopy(decoder)
optimizer = torch.optim.Adam([embed.weight], lr=1e-2)
for _ in range(12):
    tokens = torch.randint(0, 12, (16,))
    loss = nn.functional.cross_entropy(decoder(embed(tokens)), tokens)
    loss = loss + 0.01 * (decoder.weight - target.weight.detach()).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        target.weight.lerp_(decoder.weight, 0.05)
