# The usual remedy: the embedding is frozen, its output is made to require grad (enable_input_require_grads).
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
embed = nn.Embedding(30, 8).requires_grad_(False)
embed.register_forward_hook(lambda module, args, output: output.requires_grad_(True))
block = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8))
head = nn.Linear(8, 2)
optimizer = torch.optim.Adam([*block.parameters(), *head.parameters()], lr=1e-2)
for _ in range(10):
    tokens = torch.randint(0, 30, (16, 4))
    h = checkpoint(block, embed(tokens), use_reentrant=True)
    loss = nn.functional.cross_entropy(head(h.mean(1)), tokens[:, 0] % 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
