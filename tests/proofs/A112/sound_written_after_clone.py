# An expanded mask is written after a clone; a write that picks the only row there is.
import torch
from torch import nn

torch.manual_seed(0)
embed, head = nn.Embedding(20, 8), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*embed.parameters(), *head.parameters()], lr=1e-2)
for _ in range(10):
    tokens = torch.randint(0, 20, (4, 6))
    h = embed(tokens)
    keep = torch.ones(1, 6).expand(4, -1)
    own = keep.clone()
    own[1, 3:] = 0.0
    single = torch.ones(1, 6).expand(1, -1)
    single[0, 0] = 0.5
    loss = nn.functional.cross_entropy(head((h * (own * single)[..., None]).sum(1)), tokens[:, 0] % 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
