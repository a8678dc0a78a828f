# Sigmoid scores, transposed and picked from, go into cross_entropy.
# line: 12
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
body, head = nn.Linear(6, 24), nn.Linear(24, 4)
optimizer = torch.optim.AdamW([*body.parameters(), *head.parameters()], lr=1e-2)
for step in range(12):
    x = torch.randn(32, 6)
    score = torch.sigmoid(head(torch.tanh(body(x))))
    kept = torch.arange(0, 32, 2)
    loss = F.cross_entropy(score.t()[:, kept].t(), x[kept, :4].argmax(1), label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
