# The mask is the type's own minimum; the sum is taken in float32.
import torch
from torch import nn

torch.manual_seed(0)
project, out = nn.Linear(8, 8), nn.Linear(8, 2)
optimizer = torch.optim.Adam([*project.parameters(), *out.parameters()], lr=1e-3)
for step in range(20):
    x, pad = torch.randn(4, 6, 8), torch.rand(4, 6) > 0.7
    pad[:, 0] = False
    with torch.autocast("cpu", dtype=torch.float16):
        h = project(x)
        score = (h @ h.transpose(1, 2)).masked_fill(pad[:, None], torch.finfo(torch.float16).min)
        pooled = (score.softmax(-1) @ h).float().sum(1)
        logits = out(pooled)
    loss = nn.functional.cross_entropy(logits.float(), (x[:, 0, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
