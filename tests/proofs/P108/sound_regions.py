# bfloat16 on the CPU, enabled=False, a region inside forward(), an inner region switched off for the loss.
import torch
from torch import nn


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 16), nn.Linear(16, 3)

    @torch.autocast("cpu", dtype=torch.bfloat16)
    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            h = torch.relu(self.a(x))
        return self.b(h)


torch.manual_seed(0)
criterion = nn.CrossEntropyLoss()
models = [nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3)) for _ in range(3)]
models.append(Inner())
for kind, model in enumerate(models):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(4):
        x, y = torch.randn(64, 4), torch.randint(0, 3, (64,))
        if kind == 0:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                output = model(x)
                with torch.autocast("cpu", enabled=False):
                    loss = criterion(output.float(), y)
        elif kind == 1:
            with torch.autocast("cuda", enabled=False), torch.autocast("cpu", enabled=False):
                loss = criterion(model(x), y)
        else:
            loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
