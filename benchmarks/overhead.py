"""What the watch costs in each training step.

    python benchmarks/overhead.py                     # ResNet-18, a small GPT, an MLP step of about 1 ms
    python benchmarks/overhead.py mlp --processes 12  # one of them, in more processes
    python benchmarks/overhead.py --peers             # beside it, the peers that are installed in this environment

The exit code is 1 when a bar is not held.

How it is measured. A process is started by `torchcaliper run`, as a user would, and warms up. Then it trains in short
blocks, by turns under watch and with the watch taken off: every patch of torch is put back, the probes are told to be
quiet. Two neighbouring blocks are a pair; which of the two comes first changes from pair to pair. Only a pair's own
process can be its yardstick: a second process that runs the very same program differs by up to 10 % for as long as it
lives, by its luck in memory layout. What is taken is CPU time (`time.process_time`, all threads), so that waiting for
a busy machine costs nothing. After each turn some steps pass unmeasured, for the interpreter's caches to fill.

A process's ratio is its whole CPU time under watch by that without. Nothing is trimmed, because what the watch does
rarely (judging and saving, about once a second) has to count. Told are the median over the processes, and the 95 %
interval of a bootstrap over processes and, within each, over pairs. The line `nothing` is the same for a plain process
in which the turns change nothing: what this method makes, on this machine at this time, of no difference at all.

Why this is the true always-on cost. The whole product runs: the bootstrap, every probe and instrument, judging with
all rules, saving the record to disk; the clock that says when to judge and save stands still while the watch is off.
Left out are the first steps, which are looked at closely once and lie in the warm-up. What they cost is told apart, as
the CPU time of the warm-up beyond that of the plain process; benchmarks/startup.py has the cost of starting.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer


@dataclass(frozen=True)
class Workload:
    """A training step to be measured, and the bars its ratio has to hold."""

    title: str
    make: Callable[[], tuple[nn.Module, Optimizer, Callable[[], Tensor]]]
    warm_up: int  # steps before the first measured block
    settle: int  # steps that pass unmeasured after each turn
    block: int  # steps in a block
    median: float
    upper: float


# The workloads. Each makes a model, its optimizer and a function that trains one step.


def resnet() -> tuple[nn.Module, Optimizer, Callable[[], Tensor]]:
    """ResNet-18 (He et al. 2015, arXiv:1512.03385) for images of 32 x 32: 11.2 M parameters, batch 2, SGD."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Block(nn.Module):
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.shortcut = nn.Sequential()
            if stride > 1 or inputs != outputs:
                self.shortcut = nn.Sequential(
                    nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
                )

        def forward(self, x: Tensor) -> Tensor:
            y = F.relu(self.bn1(self.conv1(x)))
            return F.relu(self.bn2(self.conv2(y)) + self.shortcut(x))

    class ResNet18(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU())
            widths = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
            self.stages = nn.Sequential(
                *[nn.Sequential(Block(i, o, stride), Block(o, o, 1)) for i, o, stride in widths]
            )
            self.head = nn.Linear(512, 10)

        def forward(self, x: Tensor) -> Tensor:
            return self.head(self.stages(self.stem(x)).mean(dim=(2, 3)))

    model = ResNet18()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    images, labels = torch.randn(8, 2, 3, 32, 32), torch.randint(10, (8, 2))
    number = 0

    def step() -> Tensor:
        nonlocal number
        number += 1
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images[number % 8]), labels[number % 8])
        loss.backward()
        optimizer.step()
        return loss

    return model, optimizer, step


def gpt() -> tuple[nn.Module, Optimizer, Callable[[], Tensor]]:
    """A GPT of 4 layers, width 128, 4 heads, 64 tokens of context, batch 4, AdamW with clipping and a schedule."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Layer(nn.Module):
        def __init__(self, width: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            self.drop = nn.Dropout(0.1)

        def forward(self, x: Tensor) -> Tensor:
            batch, length, width = x.shape
            q, k, v = (
                part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
                for part in self.qkv(self.norm1(x)).split(width, dim=2)
            )
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.drop(self.out(mixed.transpose(1, 2).reshape(batch, length, width)))
            return x + self.drop(self.mlp(self.norm2(x)))

    class GPT(nn.Module):
        def __init__(self, tokens: int = 256, length: int = 64, width: int = 128, layers: int = 4) -> None:
            super().__init__()
            self.tokens, self.positions = nn.Embedding(tokens, width), nn.Embedding(length, width)
            self.layers = nn.Sequential(*[Layer(width, 4) for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, tokens, bias=False)

        def forward(self, tokens: Tensor) -> Tensor:
            x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
            return self.head(self.norm(self.layers(x)))

    model = GPT()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=100_000)
    text = torch.randint(256, (8, 4, 65))
    number = 0

    def step() -> Tensor:
        nonlocal number
        number += 1
        tokens = text[number % 8]
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        return loss

    return model, optimizer, step


def mlp() -> tuple[nn.Module, Optimizer, Callable[[], Tensor]]:
    """Three linear layers, batch 64, Adam: a step in which Python itself is most of the work."""
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    inputs, labels = torch.randn(8, 64, 64), torch.randint(10, (8, 64))
    number = 0

    def step() -> Tensor:
        nonlocal number
        number += 1
        optimizer.zero_grad()
        loss = criterion(model(inputs[number % 8]), labels[number % 8])
        loss.backward()
        optimizer.step()
        return loss

    return model, optimizer, step


WORKLOADS = {
    "resnet": Workload("ResNet-18, batch 2", resnet, warm_up=20, settle=1, block=3, median=1.03, upper=1.05),
    "gpt": Workload("GPT, 4 layers, d128, T64, batch 4", gpt, warm_up=40, settle=2, block=10, median=1.03, upper=1.05),
    "mlp": Workload("MLP, 3 layers, batch 64", mlp, warm_up=300, settle=30, block=200, median=1.15, upper=1.15),
}


# What is switched on and off between blocks. Each gets the model, its optimizer and the step, and gives the step to
# take when on, and the two switches. The peers are set up as their READMEs say for a loop of one's own; none of them
# reads the program or names its lines. torch's anomaly mode is the yardstick that everybody knows.


@dataclass(frozen=True)
class Treatment:
    step: Callable[[], object]
    on: Callable[[], object]
    off: Callable[[], object]


def nothing(model: nn.Module, optimizer: Optimizer, step: Callable[[], Tensor]) -> Treatment:
    return Treatment(step, on=lambda: None, off=lambda: None)


def torchcaliper(model: nn.Module, optimizer: Optimizer, step: Callable[[], Tensor]) -> Treatment:
    from torchcaliper.run import attach

    session = attach.current()
    if session is None:
        raise SystemExit("torchcaliper is not attached")
    since = 0.0

    def off() -> None:
        nonlocal since
        session.local.busy = True  # for the two hooks that optimizers keep
        for owner, name, original, *_ in reversed(session.patches._made):
            setattr(owner, name, original)
        since = time.perf_counter()

    def on() -> None:
        away = time.perf_counter() - since
        session._judged_at += away
        session._saved_at += away
        session.budget.pause(away)
        for owner, name, _, replacement, _ in session.patches._made:
            setattr(owner, name, replacement)
        session.local.busy = False

    return Treatment(step, on, off)


def torch_audit(model: nn.Module, optimizer: Optimizer, step: Callable[[], Tensor]) -> Treatment:
    """torch-audit 0.3, with all its checks at every step."""
    from torch_audit import Auditor, audit_step

    auditor = Auditor(model, optimizer=optimizer, every_n_steps=1)
    auditor.attach()
    return Treatment(audit_step(auditor)(step), auditor.attach, auditor.detach)


def torcheck(model: nn.Module, optimizer: Optimizer, step: Callable[[], Tensor]) -> Treatment:
    """torcheck 1.0: parameters change, no NaN and no infinity in parameters and outputs."""
    import torcheck as library

    library.register(optimizer)
    library.add_module(model, module_name="model", changing=True, check_nan=True, check_inf=True)
    return Treatment(step, library.enable, library.disable)


def torchmortem(model: nn.Module, optimizer: Optimizer, step: Callable[[], Tensor]) -> Treatment:
    """torchmortem 0.1, as in its quick start (sampling "balanced")."""
    from torchmortem import Autopsy

    autopsy = Autopsy(model, optimizer=optimizer)
    autopsy.attach()

    def examined() -> None:
        autopsy.step(loss=step().item())

    def on() -> None:
        for collector in autopsy._collectors:
            collector.attach(model, optimizer, autopsy._sampling)

    def off() -> None:
        for collector in autopsy._collectors:
            collector.detach()

    return Treatment(examined, on, off)


def anomaly(model: nn.Module, optimizer: Optimizer, step: Callable[[], Tensor]) -> Treatment:
    """torch.autograd.set_detect_anomaly(True)."""
    import torch

    torch.autograd.set_detect_anomaly(True)
    switch = torch.autograd.set_detect_anomaly
    return Treatment(step, on=lambda: switch(True), off=lambda: switch(False))


TREATMENTS = {
    "torchcaliper": torchcaliper,
    "nothing": nothing,
    "torch-audit": torch_audit,
    "torcheck": torcheck,
    "torchmortem": torchmortem,
    "anomaly mode": anomaly,
}
#: module whose presence says that a peer is installed
PEERS = {"torch-audit": "torch_audit", "torcheck": "torcheck", "torchmortem": "torchmortem", "anomaly mode": "torch"}


@dataclass(frozen=True)
class Measured:
    """The CPU seconds that one process took."""

    first_steps: float  # the warm-up
    on: list[float]  # each block
    off: list[float]  # its neighbour

    @property
    def ratio(self) -> float:
        return sum(self.on) / sum(self.off)

    def resampled(self, draw: random.Random) -> float:
        """The ratio of as many pairs drawn with replacement."""
        pairs = draw.choices(range(len(self.on)), k=len(self.on))
        return sum(self.on[p] for p in pairs) / sum(self.off[p] for p in pairs)


def work(workload: Workload, treatment: str, pairs: int) -> Measured:
    """What one process does."""
    import torch

    torch.manual_seed(0)
    model, optimizer, step = workload.make()
    treated = TREATMENTS[treatment](model, optimizer, step)
    first_steps = _timed(treated.step, workload.warm_up)
    seconds: dict[bool, list[float]] = {True: [], False: []}
    is_on = True
    for pair in range(pairs):
        for turn in (pair % 2 == 0, pair % 2 == 1):
            if turn is not is_on:
                (treated.on if turn else treated.off)()
                is_on = turn
            taken = treated.step if turn else step
            _timed(taken, workload.settle)
            seconds[turn].append(_timed(taken, workload.block))
    if not is_on:
        treated.on()
    return Measured(first_steps, seconds[True], seconds[False])


def _timed(step: Callable[[], object], times: int) -> float:
    begin = time.process_time()
    for _ in range(times):
        step()
    return time.process_time() - begin


def measure(workload: str, treatment: str, pairs: int) -> Measured | None:
    """Start one process and read what it measured; None when it fails."""
    watch = ["-m", "torchcaliper", "run", "--quiet"] if treatment == "torchcaliper" else []
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.json")
        command = [str(Path(__file__).resolve()), workload, "--pairs", str(pairs)]
        outcome = subprocess.run(
            [sys.executable, *watch, *command, "--treatment", treatment, "--answer", str(answer)],
            cwd=folder,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL,  # a peer's chatter
            stderr=subprocess.PIPE,
            text=True,
        )
        if outcome.returncode != 0:
            last = (outcome.stderr.strip().splitlines() or ["no message"])[-1]
            print(f"\r  {treatment} does not run here: {last}", file=sys.stderr)
            return None
        if treatment == "torchcaliper" and outcome.stderr:
            print(outcome.stderr, file=sys.stderr)  # a finding, or a probe that failed: either spoils the figures
        return Measured(**json.loads(answer.read_text(encoding="utf-8")))


def interval(found: Sequence[Measured], draws: int = 4000) -> tuple[float, float]:
    """95 % interval of the median ratio: processes are drawn with replacement and, in each, its pairs."""
    draw = random.Random(0)
    medians = sorted(
        statistics.median(process.resampled(draw) for process in draw.choices(found, k=len(found)))
        for _ in range(draws)
    )
    return medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}; default: all")
    parser.add_argument("--processes", type=int, default=8, help="of each kind (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=40, help="pairs of blocks in a process (default: %(default)s)")
    parser.add_argument("--peers", action="store_true", help=f"measure those that are installed: {', '.join(PEERS)}")
    parser.add_argument("--treatment", help=argparse.SUPPRESS)
    parser.add_argument("--answer", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    for name in args.workloads:
        if name not in WORKLOADS:
            parser.error(f"no such workload: {name}")
    if args.treatment:
        measured = work(WORKLOADS[args.workloads[0]], args.treatment, args.pairs)
        args.answer.write_text(json.dumps(asdict(measured)), encoding="utf-8")
        return 0

    treatments = ["torchcaliper", "nothing"]
    if args.peers:
        treatments += [name for name, module in PEERS.items() if find_spec(module) is not None]
    print("CPU time per step, relative to the same process without it\n")
    print(f"{'':20}{'median':>7}  {'95 % interval':14}  {'added per step':>14}  {'by the first steps':>18}  bars")
    held = True
    for name in args.workloads or WORKLOADS:
        held = tell(WORKLOADS[name], collect(name, treatments, args.processes, args.pairs)) and held
    return 0 if held else 1


def collect(name: str, treatments: list[str], processes: int, pairs: int) -> dict[str, list[Measured]]:
    """All processes of one workload, the kinds by turns."""
    found: dict[str, list[Measured]] = {treatment: [] for treatment in treatments}
    for number in range(processes):
        for treatment in treatments:
            if number > 0 and not found[treatment]:
                continue  # it has failed
            if sys.stderr.isatty():
                print(
                    f"\r\033[K  {name}: {number + 1} of {processes}, {treatment}", end="", file=sys.stderr, flush=True
                )
            measured = measure(name, treatment, pairs)
            if measured is not None:
                found[treatment].append(measured)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return found


def tell(workload: Workload, found: dict[str, list[Measured]]) -> bool:
    """Print a workload's part of the table; whether its bars are held."""
    plain = statistics.median(seconds for process in found["nothing"] for seconds in process.off) / workload.block
    plain_start = statistics.median(process.first_steps for process in found["nothing"])
    print(f"{workload.title} ({plain * 1e3:.2f} ms)")
    held = bool(found["torchcaliper"])
    for treatment, processes in found.items():
        if not processes:
            continue
        median, (low, high) = statistics.median(process.ratio for process in processes), interval(processes)
        added = statistics.median(sum(p.on) - sum(p.off) for p in processes) / len(processes[0].on) / workload.block
        start = statistics.median(process.first_steps for process in processes) - plain_start
        verdict = ""
        if treatment == "torchcaliper":
            held = median <= workload.median and high <= workload.upper
            verdict = f"  {workload.median:.2f}, upper end {workload.upper:.2f}: {'held' if held else 'NOT HELD'}"
        print(
            f"  {treatment:18}{median:7.3f}  [{low:.3f}, {high:.3f}]  {added * 1e6:11.0f} us  {start * 1e3:15.0f} ms"
            f"{verdict}",
            flush=True,
        )
    return held


if __name__ == "__main__":
    sys.exit(main())
