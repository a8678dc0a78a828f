import torch
from digest import tell
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
print([type(m).__name__ for m in model], list(model.state_dict()))
optimizer = None
for _ in range(3):
    loss = model(torch.randn(2, 3, 6, 6)).pow(2).mean()
    if optimizer is None:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    tell(loss)
print([type(m).__name__ for m in model])
tell(model)
meta = nn.Linear(3, 3, device="meta")
tell(meta.to_empty(device="cpu").weight.shape)
with torch.device("meta"):
    ghost = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
print(ghost(torch.ones(2, 3, device="meta")).shape, torch.ones(1).device)
ghost(torch.ones(2, 3, device="meta")).sum().backward()
