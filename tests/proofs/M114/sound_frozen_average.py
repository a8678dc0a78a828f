# A fixed averaging filter before a network: equal rows that are not to learn, and a depthwise one that is.
import torch
from torch import nn

torch.manual_seed(0)
blur = nn.Conv2d(3, 3, 3, padding=1, groups=3, bias=False)
nn.init.constant_(blur.weight, 1 / 9)
fixed = nn.Linear(8, 4, bias=False)
nn.init.constant_(fixed.weight, 1 / 8)
fixed.requires_grad_(False)
head = nn.Linear(7, 2)
optimizer = torch.optim.Adam([*blur.parameters(), *fixed.parameters(), *head.parameters()], lr=1e-2)
for _ in range(40):
    image, extra = torch.randn(16, 3, 6, 6), torch.randn(16, 8)
    h = torch.cat([torch.relu(blur(image)).mean((2, 3)), fixed(extra)], 1)
    loss = nn.functional.cross_entropy(head(h), (image[:, 0].mean((1, 2)) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
