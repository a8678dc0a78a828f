# Segmentation: cross_entropy on scores and a Dice term on their softmax.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
for _ in range(10):
    image, mask = torch.randn(4, 2, 10, 10), torch.randint(3, (4, 10, 10))
    mask[:, 0] = 255
    scores = net(image)
    p = scores.softmax(dim=1)[:, :, 1:]
    wanted = F.one_hot(mask[:, 1:], 3).permute(0, 3, 1, 2).float()
    dice = 1 - (2 * (p * wanted).sum((0, 2, 3)) / (p + wanted).sum((0, 2, 3))).mean()
    loss = F.cross_entropy(scores, mask, ignore_index=255) + dice
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        hits = (net(image).argmax(1) == mask).float().mean().item()
