# A focal loss and rare positives, with the output bias set to the prior (RetinaNet).
import math

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
nn.init.constant_(model[2].bias, -math.log(99))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(12):
    x = torch.randn(256, 10)
    y = (x[:, :1] > 2.0).float()
    raw = nn.functional.binary_cross_entropy_with_logits(model(x), y, reduction="none")
    p = torch.exp(-raw)
    loss = 100 * ((1 - p) ** 2 * raw).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
