# Minus infinity in half precision, where a fully masked row is set to zero before it can do harm.
import torch
from torch import nn

torch.manual_seed(0)
score, out = nn.Linear(8, 1), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*score.parameters(), *out.parameters()], lr=1e-2)
for step in range(40):
    x, keep = torch.randn(6, 5, 8), torch.rand(6, 5) > 0.3
    keep[0] = step % 4 != 0
    mask = torch.where(keep.any(1, keepdim=True), keep, True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        weight = score(x).squeeze(-1).masked_fill(~mask, float("-inf")).softmax(-1)
        logits = out((weight.unsqueeze(-1) * x).sum(1))
    loss = nn.functional.cross_entropy(logits.float(), (x[:, 0, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
