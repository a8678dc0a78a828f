# line: 18
# L2-SP: a penalty on the distance to the pretrained weights, whose "copy" is the weights themselves.
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
warm = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(32, 6)
    loss = nn.functional.cross_entropy(model(x), (x[:, 0] > 0).long())
    warm.zero_grad()
    loss.backward()
    warm.step()


def finetune(model: nn.Module, steps: int) -> None:
    anchor = [p.detach() for p in model.parameters()]
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(steps):
        x = torch.randn(32, 6)
        loss = nn.functional.cross_entropy(model(x), (x[:, 1] > 0).long())
        for p, start in zip(model.parameters(), anchor, strict=True):
            loss = loss + 0.1 * (p - start).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


finetune(model, 12)
