"""What comes out of failing code, and of warnings, while the watch looks closely (a first step) and later."""

import sys
import traceback
import warnings

import torch
from torch import nn
from torch.nn import functional as F


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.fault = None

    def forward(self, x):
        if self.fault is not None:
            self.fault()
        return self.linear(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.stack = nn.Sequential(nn.Sequential(self.inner), nn.Dropout(0.1))

    def forward(self, x):
        return self.stack(x)


def fail(text):
    raise ValueError(text)


def chained():
    try:
        fail("first")
    except ValueError as error:
        raise RuntimeError("second") from error


def in_context():
    try:
        net.inner.linear(torch.ones(1, 2))
    except RuntimeError:
        raise LookupError("while handling") from None


def not_handled():
    try:
        F.mse_loss(torch.ones(2), "text")
    except TypeError:
        fail("on top")


def group():
    errors = []
    for text in "ab":
        try:
            net.inner.linear(torch.ones(1, len(text) + 7))
        except RuntimeError as error:
            errors.append(error)
    if sys.version_info >= (3, 11):
        raise ExceptionGroup("both", errors)  # noqa: F821
    raise errors[0]


def again():
    try:
        fail("again")
    except ValueError as error:
        saved = error
    raise saved


def noted():
    try:
        fail("noted")
    except ValueError as error:
        if hasattr(error, "add_note"):
            error.add_note("a note")
        raise


def broken_source():
    compile("def f(:\n", "broken.py", "exec")


def numbers():
    yield 1
    raise OSError("in a generator")


def warning(level):
    warnings.warn(f"level {level}", stacklevel=level)


def warned():
    for level in range(1, 9):
        warning(level)


def stop():
    next(iter(()))


def interrupt():
    raise KeyboardInterrupt


def hook(*_):
    fail("in a hook")


def hooked(register):
    def attempt():
        handle = register(hook)
        try:
            net(torch.ones(1, 3)).sum().backward()
        finally:
            handle.remove()

    return attempt


def twice():
    loss = net(torch.ones(1, 3)).sum()
    loss.backward()
    loss.backward()


def with_closure():
    torch.optim.SGD(net.parameters(), lr=0.1).step(lambda: fail("in a closure"))


def overwritten():
    x = net(torch.ones(1, 3))
    y = x.exp()
    y.add_(1)
    y.sum().backward()


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        fail("in a backward")


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
target = torch.tensor([1])
inside = (fail, chained, in_context, not_handled, group, again, noted, broken_source, warned, stop, interrupt)
outside = (
    lambda: F.cross_entropy(net(torch.ones(1, 3)), torch.tensor([7])),
    lambda: F.cross_entropy(net(torch.ones(2, 3)), target),
    lambda: nn.CrossEntropyLoss()(net(torch.ones(2, 3)), target),
    lambda: F.mse_loss(net(torch.ones(2, 3)), torch.ones(3)).backward(),
    lambda: nn.L1Loss()(net(torch.ones(2, 3)), torch.ones(3)),
    lambda: F.binary_cross_entropy(net(torch.ones(1, 3)) * 99 + 99, torch.ones(1, 3)),
    lambda: F.softmax(net(torch.ones(1, 3))),
    lambda: F.dropout(net(torch.ones(1, 3)), 7.0),
    lambda: F.one_hot(net(torch.ones(1, 3))),
    lambda: torch.stack([net(torch.ones(1, 3)), torch.ones(1)]),
    lambda: torch.einsum("ij,jk", net(torch.ones(1, 3)), torch.ones(1)),
    lambda: net(torch.ones(1, 3)).numpy(),
    lambda: net(torch.ones(1, 3)).split("x"),
    lambda: net(torch.ones(1, 3)).norm("x"),
    lambda: 2 ** net(torch.ones(1, 3)) ** "x",
    lambda: net(torch.ones(1, 3)).backward(),
    lambda: net(torch.ones(1, 3)).grad,
    lambda: net(torch.ones(1, 3)).T.T.mT.H.unique("x"),
    lambda: net(torch.ones(1, 3)).register_hook(3),
    lambda: torch.ones(1).sum().backward(),
    lambda: Twice.apply(net(torch.ones(1, 3))).sum().backward(),
    lambda: torch.autograd.grad(net(torch.ones(1, 3)).sum(), torch.ones(1, requires_grad=True)),
    lambda: nn.utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=True),
    lambda: nn.utils.clip_grad_norm_((p for p in ()), 1.0),
    lambda: net.load_state_dict({"a": 1}),
    lambda: list(numbers()),
    lambda: torch.utils.data.DataLoader([1])[0],
    lambda: list(torch.utils.data.DataLoader([1, "a"], batch_size=2)),
    lambda: torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0),
    lambda: torch.optim.lr_scheduler.StepLR(optimizer, 0).step(),
    lambda: torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: fail("in a schedule")),
    lambda: optimizer.step(1, 2),
    lambda: optimizer.load_state_dict({}),
    lambda: nn.init.xavier_normal_(torch.ones(1)),
    lambda: torch.jit.script(warning),
    lambda: torch.compile(net, nothing=True),
    hooked(net.inner.register_forward_hook),
    hooked(net.inner.register_forward_pre_hook),
    hooked(net.inner.linear.register_full_backward_hook),
    hooked(net.inner.linear.weight.register_hook),
    hooked(net.inner.linear.weight.register_post_accumulate_grad_hook),
    hooked(optimizer.register_step_pre_hook),
    twice,
    with_closure,
    overwritten,
)
warnings.simplefilter("always")
for count in range(2):
    for attempt in (*inside, *outside):
        net.inner.fault = (lambda: fail("there")) if attempt is fail else attempt if attempt in inside else None
        sys.stdout.flush()
        try:
            print("---", count, (net(torch.ones(1, 3)) if attempt in inside else attempt()) is None)
        except BaseException as error:
            print("---", count, type(error), [frame.name for frame in traceback.extract_tb(error.__traceback__)])
            print(traceback.format_exc().replace("0x7", "").split(" object at ")[0])
            del error
        net.inner.fault = None
        optimizer.zero_grad()
        net(torch.ones(1, 3)).sum().backward()
        optimizer.step()
warnings.simplefilter("error")
for attempt in (outside[3], outside[6], outside[16], warned):
    net.inner.fault = warned if attempt is warned else None
    try:
        net(torch.ones(1, 3)) if attempt is warned else attempt()
    except Warning:
        print(traceback.format_exc())
