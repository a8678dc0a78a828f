import contextlib
import gc
import weakref

import torch
from torch import nn

gc.disable()
alive = {}


class Thing:
    pass


class Failed(Exception):
    pass


def note(name, thing):
    alive[name] = weakref.ref(thing)
    return thing


def show(moment):
    print(moment, [name for name, reference in alive.items() if reference() is not None])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
        self.out = nn.Linear(4, 2)
        self.fail = False

    def forward(self, x):
        local = note("local", Thing())
        h = note("hidden", self.inner(x))
        if self.fail:
            raise Failed(f"failed {local is not None}")
        show("in forward")
        return self.out(h)


def epoch(net, steps):
    optimizer = note("optimizer", torch.optim.SGD(net.parameters(), lr=0.1))
    scheduler = note("scheduler", torch.optim.lr_scheduler.StepLR(optimizer, 1))
    for _ in range(steps):
        x = note("input", torch.randn(2, 3))
        marker = note("marker", Thing())
        optimizer.zero_grad()
        show("zeroed")
        output = note("output", net(x))
        loss = note("loss", nn.functional.cross_entropy(output, torch.tensor([0, 1])))
        tag = note("graph", Thing())
        loss.grad_fn.metadata["mine"] = tag
        del x, output, tag
        show("before backward")
        loss.backward()
        show("after backward")
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        note("gradient", net.out.weight.grad)
        optimizer.step()
        scheduler.step()
        del loss, marker
        show("stepped")
    show("end of epoch")


def failing(net):
    net.fail = True
    x = note("failing input", torch.ones(1, 3))
    try:
        net(x)
    except Failed as error:
        note("error", error)
        show("caught")
    net.fail = False
    show("after the exception")
    with contextlib.suppress(ValueError):
        nn.functional.cross_entropy(note("bad", torch.zeros(2, 3)), torch.zeros(5, dtype=torch.long))
    loss = note("twice", (net(x) * note("factor", torch.ones(1, 2, requires_grad=True))).sum())
    loss.backward()
    with contextlib.suppress(RuntimeError):
        loss.backward()
    optimizer = torch.optim.SGD(net.parameters(), lr=1.0)

    def closure():
        here = note("in closure", Thing())
        raise LookupError(here)

    try:
        optimizer.step(closure)
    except LookupError as error:
        del error
    with contextlib.suppress(RuntimeError):
        net.load_state_dict({"out.weight": note("loaded", torch.ones(7))})


net = note("net", Net())
note("parameter", net.out.weight)
epoch(net, 4)
show("epoch is over")
failing(net)
show("failures are over")


def stream(model):
    for _ in range(3):
        yield note("yielded", model(torch.ones(1, 3)))


generator = note("generator", stream(net))
for value in generator:
    del value
    show("generated")
del generator
show("generator is gone")
with torch.no_grad():
    net.eval()
    note("validated", net(torch.ones(1, 3)))
show("validated")
loader = note("loader", torch.utils.data.DataLoader(torch.arange(6.0).reshape(2, 3)))
for batch in loader:
    note("batch", batch)
    net(batch)
del batch
show("after the batches")
del loader
show("after the loader")
epoch(net, 3)
del net
show("net is gone")
gc.collect()
show("collected")
for _ in range(20):
    small = note("small", nn.Linear(2, 2))
    optimizer = note("its optimizer", torch.optim.Adam(small.parameters()))
    small(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    del small, optimizer
show("after many")
