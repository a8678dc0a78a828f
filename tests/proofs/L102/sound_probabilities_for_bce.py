# Sigmoid with binary_cross_entropy, plain scores with the loss that has it built in, gates in the middle.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net, gate = nn.Linear(8, 3), nn.Linear(8, 8)
optimizer = torch.optim.Adam([*net.parameters(), *gate.parameters()], lr=1e-2)
for _ in range(12):
    x = torch.randn(16, 8)
    y = (x[:, :3] > 0).float()
    scores = net(x * torch.sigmoid(gate(x)))
    loss = F.binary_cross_entropy(scores.sigmoid(), y) + F.binary_cross_entropy_with_logits(scores, y * 0.9 + 0.05)
    p = scores.detach().sigmoid()
    focal = ((y - p).abs() ** 2 * F.binary_cross_entropy_with_logits(scores, y, reduction="none")).mean()
    optimizer.zero_grad()
    (loss + focal).backward()
    optimizer.step()
