"""Classes that do things their own way: what they do must be done as often as in plain Python."""

import dataclasses
import time
import traceback

import torch
from digest import tell
from torch import nn


@dataclasses.dataclass(frozen=True)
class Rigid(Exception):
    text: str


class Loud(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)
        self.count = 0

    def forward(self, x):
        self.count += 1
        if self.count == 3:
            raise Rigid("third")
        return self.inner(x)

    def parameters(self, recurse=True):
        print("parameters")
        return super().parameters(recurse)

    def named_parameters(self, *args, **kwargs):
        print("named_parameters")
        return super().named_parameters(*args, **kwargs)

    def modules(self):
        print("modules")
        return super().modules()

    def named_modules(self, *args, **kwargs):
        print("named_modules")
        return super().named_modules(*args, **kwargs)

    def children(self):
        print("children")
        return super().children()

    def state_dict(self, *args, **kwargs):
        print("state_dict")
        return super().state_dict(*args, **kwargs)

    def buffers(self, recurse=True):
        print("buffers")
        return super().buffers(recurse)

    def train(self, mode=True):
        print("train", mode)
        return super().train(mode)

    def extra_repr(self):
        print("extra_repr")
        return ""

    def __getattr__(self, name):
        if not name.startswith("_"):
            print("getattr", name)
        return super().__getattr__(name)

    def __eq__(self, other):
        print("eq")
        return self is other

    __hash__ = nn.Module.__hash__

    def __len__(self):
        print("len")
        return 0

    def __bool__(self):
        print("bool")
        return False


class Careful(torch.optim.SGD):
    def __eq__(self, other):
        print("optimizer eq")
        return self is other

    __hash__ = torch.optim.SGD.__hash__

    def __getstate__(self):
        print("getstate")
        return super().__getstate__()

    def __repr__(self):
        print("repr")
        return "Careful"


class Picky(torch.optim.lr_scheduler.StepLR):
    def __eq__(self, other):
        raise TypeError("not to be compared")

    __hash__ = None


class Silent(Exception):
    def __str__(self):
        raise RuntimeError("no text")


torch.manual_seed(0)
ticks = iter(range(10**6))
time.perf_counter = time.time = time.monotonic = lambda: next(ticks)
model = Loud()
optimizer = Careful(model.inner.parameters(), lr=0.1)
scheduler = Picky(optimizer, 2)
for _ in range(9):
    optimizer.zero_grad()
    try:
        loss = model(torch.randn(2, 3)).sum()
    except Rigid as error:
        print(error, type(error), traceback.format_exc())
    loss.backward(retain_graph=True)
    optimizer.step()
    scheduler.step()
    model.train()
    model.eval()
    tell(loss)
print(next(ticks))
for wrong in (
    lambda: nn.Module.train(),
    lambda: nn.Module.load_state_dict(),
    lambda: nn.utils.clip_grad_norm_(),
    lambda: nn.utils.clip_grad_norm_(None, 1.0),
    lambda: nn.utils.clip_grad_norm_((1 / p for p in (1, 0)), 1.0),
    lambda: torch.autograd.grad(),
    lambda: torch.autograd.backward(),
    lambda: torch.autograd.backward([1]),
    lambda: torch.optim.SGD(),
    lambda: torch.optim.SGD([{"parameters": 1}]),
    lambda: torch.optim.SGD(model.inner.weight),
    lambda: torch.optim.SGD((1 / p for p in (1, 0)), lr=1.0),
    lambda: torch.optim.SGD.zero_grad(),
    lambda: torch.optim.SGD.zero_grad(3),
    lambda: optimizer.zero_grad(1, 2, 3),
    lambda: torch.optim.lr_scheduler.StepLR(),
    lambda: torch.optim.lr_scheduler.StepLR(model, 3),
    lambda: torch.optim.lr_scheduler.StepLR.step(),
    lambda: torch.amp.GradScaler("cpu").step(None),
    lambda: torch.amp.GradScaler("cpu").step(),
    lambda: torch.amp.GradScaler("cpu").update(),
    lambda: torch.amp.GradScaler("nothing").scale(torch.ones(1)),
    lambda: torch.amp.GradScaler("cpu").unscale_(model),
    lambda: torch.utils.data.DataLoader(),
    lambda: torch.utils.data.DataLoader([1], batch_size=-1),
    lambda: torch.utils.data.DataLoader.__iter__(),
    lambda: nn.functional.dropout(),
    lambda: nn.functional.dropout(torch.ones(1), "p"),
    lambda: nn.functional.dropout(torch.ones(1), p=torch.ones(2)),
    lambda: nn.functional.cross_entropy(),
    lambda: nn.functional.mse_loss(torch.ones(1)),
    lambda: nn.init.normal_(),
    lambda: nn.init.uniform_(3),
    lambda: torch.set_grad_enabled(),
    lambda: nn.Linear(),
    lambda: model.train("yes"),
    lambda: nn.Module.__call__(),
    lambda: nn.Module.__call__(4),
    lambda: torch.optim.swa_utils.AveragedModel.update_parameters(),
    lambda: torch.jit.script(),
    lambda: torch.jit.script(3),
    lambda: torch.compile(model, backend="nothing"),
    lambda: next(iter([])),
    lambda: next(Silent() for _ in "a").missing,
):
    try:
        wrong()
    except Exception:
        print(traceback.format_exc())


class Raising(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(1, 1)

    def forward(self, error):
        raise error


for error in (Silent(), KeyError("k"), StopIteration(3), GeneratorExit(), ValueError(3)):
    try:
        Raising()(error)
    except BaseException as caught:
        print(type(caught), caught is error, len(traceback.extract_tb(caught.__traceback__)))
