# Image and text towers: cross_entropy over the batch in both directions, with a learnt temperature.
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
image, text, scale = nn.Linear(12, 8), nn.Linear(9, 8), nn.Parameter(torch.tensor(2.0))
optimizer = torch.optim.Adam([*image.parameters(), *text.parameters(), scale], lr=1e-2)
for _ in range(12):
    a, b = F.normalize(image(torch.randn(16, 12)), dim=-1), F.normalize(text(torch.randn(16, 9)), dim=-1)
    logits = scale.exp() * a @ b.t()
    truth = torch.arange(16)
    loss = (F.cross_entropy(logits, truth) + F.cross_entropy(logits.t(), truth)) / 2
    soft = logits.detach().softmax(1)
    loss = loss + F.cross_entropy(logits, 0.9 * torch.eye(16) + 0.1 * soft)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        right = (logits.argmax(1) == truth).float().mean() + (logits.argmax(0) == truth).float().mean()
