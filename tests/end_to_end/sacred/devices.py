import torch
from digest import tell
from torch import nn
from torch.overrides import TorchFunctionMode


class Log(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.names.append(getattr(func, "__qualname__", str(func)))
        return func(*args, **(kwargs or {}))


def train(model, steps=2):
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.binary_cross_entropy_with_logits(model(torch.randn(3, 4)), torch.ones(3, 1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    tell(loss, model)


torch.manual_seed(0)
with Log() as before:
    model = nn.Linear(4, 1)
    out = model(torch.randn(2, 4))  # a look may begin in here
    with torch.device("cpu"):
        out.sum()
print(before.names, torch._C._len_torch_function_stack() if before.names is None else "")
train(nn.Linear(4, 1), 1)
with Log() as around:
    train(model, 1)
    with Log() as within, torch.device("meta"):
        print(torch.zeros(2).device)
    train(model, 1)
print(around.names, within.names)
print(torch.zeros(1).device)
torch.set_default_device("meta")
ghost = nn.Linear(2, 2)
ghost(torch.ones(1, 2)).sum().backward()
optimizer = torch.optim.SGD(ghost.parameters(), lr=1.0)
optimizer.step()
print(ghost.weight.device, torch.get_default_device())
torch.set_default_device("cpu")
train(model, 3)
with torch.device("meta"):
    print(torch.zeros(1).device)
with Log() as after:
    train(model, 2)
print(after.names)
torch.set_default_device(None)
print(torch.get_default_device(), torch.zeros(1).device)
torch.set_default_dtype(torch.float64)
train(nn.Linear(4, 1), 3)
