# The known remedy: the input of the first checkpointed block is made to require grad.
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
frozen, block, head = nn.Linear(6, 6).requires_grad_(False), nn.Linear(6, 6), nn.Linear(6, 2)
optimizer = torch.optim.Adam([*block.parameters(), *head.parameters()], lr=1e-2)
for step in range(12):
    x = torch.randn(16, 6)
    h = frozen(x).requires_grad_()
    loss = nn.functional.cross_entropy(head(checkpoint(block, h, use_reentrant=True)), (x[:, 1] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
