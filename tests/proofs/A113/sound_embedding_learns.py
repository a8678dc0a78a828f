# The embedding in front is trained, so the input of the checkpointed part requires grad.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
embed, block, head = nn.Embedding(20, 8), nn.Sequential(nn.Linear(8, 8), nn.Tanh()), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*embed.parameters(), *block.parameters(), *head.parameters()], lr=1e-2)
for step in range(12):
    tokens = torch.randint(0, 20, (16, 3))
    h = checkpoint(block, embed(tokens).mean(1), use_reentrant=True)
    loss = nn.functional.cross_entropy(head(h), (tokens[:, 0] > 9).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
