# A language model with tied, small embeddings starts at the logarithm of its vocabulary.
import torch
from torch import nn

torch.manual_seed(0)
embed = nn.Embedding(200, 24)
nn.init.normal_(embed.weight, std=0.02)
mixer, norm = nn.GRU(24, 24, batch_first=True), nn.LayerNorm(24)
optimizer = torch.optim.AdamW([*embed.parameters(), *mixer.parameters(), *norm.parameters()], lr=3e-4)
for _ in range(8):
    ids = torch.randint(0, 200, (4, 17))
    hidden, _ = mixer(embed(ids[:, :-1]))
    logits = norm(hidden) @ embed.weight.t()
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
