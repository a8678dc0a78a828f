# Minus infinity as a mask in half precision, with one key left for every row.
import torch
from torch import nn

torch.manual_seed(0)
q, k, out = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 3)
optimizer = torch.optim.Adam([*q.parameters(), *k.parameters(), *out.parameters()], lr=1e-3)
causal = torch.ones(6, 6, dtype=torch.bool).triu(1)
for step in range(20):
    x = torch.randn(4, 6, 8)
    with torch.autocast("cpu", dtype=torch.float16):
        score = (q(x) @ k(x).mT).masked_fill(causal, float("-inf"))
        logits = out(score.softmax(-1) @ x.half())
    loss = nn.functional.cross_entropy(logits.float().flatten(0, 1), x[..., 0].gt(0).long().flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
