# AveragedModel with update_bn, a fixed reference network, and a teacher called in training mode.
import copy

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, update_bn

torch.manual_seed(0)
y = torch.randint(0, 2, (320,))
x = 5 + 3 * torch.randn(320, 6) + 4 * y[:, None]
model = nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 2))
reference = copy.deepcopy(model).eval()
teacher = copy.deepcopy(model)
averaged = AveragedModel(model)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    model.train()
    for i in range(0, 256, 32):
        batch = x[i : i + 32]
        with torch.no_grad():
            soft, fixed = teacher(batch).softmax(1), reference(batch)
        out = model(batch)
        loss = nn.functional.cross_entropy(out, y[i : i + 32]) + 0.1 * nn.functional.cross_entropy(out, soft)
        loss = loss + 1e-4 * (out - fixed).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for t, p in zip(teacher.parameters(), model.parameters()):
                t.lerp_(p, 0.1)
    averaged.update_parameters(model)
update_bn(x[:256].split(32), averaged)
averaged.eval()
with torch.no_grad():
    print(f"accuracy {(averaged(x[256:]).argmax(1) == y[256:]).float().mean():.3f}")
