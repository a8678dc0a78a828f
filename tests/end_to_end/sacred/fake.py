import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

with FakeTensorMode():
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(9):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(torch.randn(5, 4)), torch.randint(2, (5,)))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(type(loss).__name__, loss.shape, model[0].weight.grad.shape)
print(type(nn.Linear(2, 2)(torch.ones(1, 2))).__name__)
