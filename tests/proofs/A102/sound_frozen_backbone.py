# A frozen backbone under no_grad, a target network, set_grad_enabled by phase.
import copy

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
backbone = nn.Sequential(nn.Linear(4, 8), nn.ReLU()).requires_grad_(False).eval()
lazily_frozen = nn.Sequential(nn.Linear(4, 8), nn.ReLU()).eval()
head = nn.Linear(16, 1)
target = copy.deepcopy(head)
optimizer = torch.optim.SGD([*lazily_frozen.parameters(), *head.parameters()], lr=0.05)
for epoch in range(6):
    for phase in ("train", "val"):
        with torch.set_grad_enabled(phase == "train"):
            with torch.no_grad():
                features = torch.cat([backbone(x), lazily_frozen(x)], dim=1)
                goal = 0.5 * y + 0.5 * target(features)
            loss = nn.functional.mse_loss(head(features), goal)
        if phase == "train":
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
