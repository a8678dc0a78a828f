import torch
from digest import tell
from torch import nn

log = []


class Logged(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        log.append(func.__name__ if hasattr(func, "__name__") else str(func))
        return super().__torch_function__(func, types, args, kwargs or {})


class Parameter(Logged, nn.Parameter):
    pass


class Other:
    """Not a tensor at all, but torch's functions ask it."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return (func.__name__, [t.__name__ for t in types], len(args), sorted(kwargs or {}))


torch.manual_seed(0)
model = nn.Linear(3, 2)
model.weight = nn.Parameter(model.weight.detach().as_subclass(Logged))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
for step in range(6):
    optimizer.zero_grad()
    out = model(torch.randn(2, 3).as_subclass(Logged))
    loss = nn.functional.mse_loss(out, torch.zeros(2, 2))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    log.append(f"-- {step}")
print("\n".join(log))
tell(loss, model, type(out).__name__)
print(nn.functional.cross_entropy(Other(), torch.ones(1)), nn.functional.dropout(Other(), p=0.2))
print(torch.mean(Other()), torch.Tensor.add(torch.ones(1), Other()))
