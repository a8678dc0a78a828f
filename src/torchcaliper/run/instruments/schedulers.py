"""Learning rate schedulers: how often each was stepped, against the steps of its optimizer."""

from __future__ import annotations

import ast
import weakref
from typing import Any

import torch

from torchcaliper.run import blame
from torchcaliper.run.events import Backward, Ended, Forward, LossCall, OptimizerMade, SchedulerMade, SchedulerStep
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.plateau import LossMeter
from torchcaliper.run.instruments.protocol import Protocol
from torchcaliper.run.record import Scheduler
from torchcaliper.run.session import Session

#: settings that say what a schedule counts on, as the schedulers of torch name them
_SETTINGS = ("T_max", "total_steps", "total_iters", "milestones", "step_size", "gamma", "mode", "T_0", "T_mult")
#: a learning rate below this share of its peak trains nothing
_TINY = 1e-4
#: schedulers that are followed at once; programs that make one per client or fold are no use beyond that
_FOLLOWED = 200
#: metrics kept of a ReduceLROnPlateau
_METRICS = 512


class _Life:
    """What is known of a living scheduler."""

    __slots__ = ("falling", "last_lr", "meter", "record", "reference", "steps_at_call", "steps_at_making")

    def __init__(self, scheduler: Any, record: Scheduler, steps: int) -> None:
        self.reference = weakref.ref(scheduler)
        self.record = record
        self.steps_at_making = self.steps_at_call = steps
        self.last_lr: float | None = None
        self.falling = False
        self.meter = LossMeter() if record.name == "ReduceLROnPlateau" or _is_plateau(scheduler) else None


def _is_plateau(scheduler: Any) -> bool:
    return isinstance(scheduler, torch.optim.lr_scheduler.ReduceLROnPlateau)


class Schedulers(Instrument):
    """Counts the calls of schedulers and what they do to the learning rate."""

    name = "schedulers"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._lives: dict[int, _Life] = {}
        self._numbers: list[weakref.ref[Any]] = []
        self._backwards_at_making: dict[int, int] = {}
        self._plateaus: list[LossMeter] = []
        self._calls: Protocol | None = None

    def _protocol(self) -> Protocol:
        if self._calls is None:
            protocol = self.session.instrument("protocol")
            assert isinstance(protocol, Protocol)
            self._calls = protocol
        return self._calls

    def _number(self, scheduler: Any) -> int | None:
        for number, reference in enumerate(self._numbers):
            if reference() is scheduler:
                return number
        return None

    def on_scheduler_made(self, event: SchedulerMade) -> None:
        self._life(event.scheduler, event.site)

    def _life(self, scheduler: Any, site: int | None = None) -> _Life | None:
        life = self._lives.get(id(scheduler))
        if life is not None and life.reference() is scheduler:
            return life
        schedulers = self.run.protocol.schedulers
        optimizer = getattr(scheduler, "optimizer", None)
        if len(schedulers) >= _FOLLOWED or not isinstance(optimizer, torch.optim.Optimizer):
            return None
        protocol = self._protocol()
        index = protocol.track(optimizer).index
        for other in schedulers:
            if other.optimizer == index and other.owned_by is None:
                other.replaced = True
        record = Scheduler(type(scheduler).__name__, site, index, settings=_settings(scheduler))
        record.started_at = max(int(getattr(scheduler, "last_epoch", 0) or 0), 0)
        record.lr_first = _lr(optimizer)
        number = len(schedulers)
        schedulers.append(record)
        self._numbers.append(weakref.ref(scheduler))
        self._backwards_at_making[number] = protocol.backwards(index)
        for child in _children(scheduler):
            inner = self._number(child)
            if inner is not None:
                schedulers[inner].owned_by = number
        life = self._lives[id(scheduler)] = _Life(scheduler, record, protocol.steps(index))
        if life.meter is not None:
            self._plateaus.append(life.meter)
        return life

    def on_scheduler_begin(self, event: SchedulerStep) -> None:
        life = self._life(event.scheduler)
        if life is None:
            return
        record, protocol = life.record, self._protocol()
        steps = protocol.steps(record.optimizer)
        if record.calls == 0:
            record.optimizer_steps_at_first_call = steps
            record.first_call_site = event.site
            optimizer = getattr(event.scheduler, "optimizer", None)
            record.lr_first = _lr(optimizer) if record.lr_first is None else record.lr_first
        elif steps == life.steps_at_call:
            record.calls_between_steps += 1
        else:
            record.blocks += 1
        if steps == 0:
            record.calls_before_first_step += 1
        record.calls += 1
        record.step_site = event.site
        life.steps_at_call = steps
        if not event.inner:
            protocol.scheduler_called(record.optimizer, event.site)
        if life.meter is not None and event.args:
            self._metric(life, event.args[0])

    def _metric(self, life: _Life, value: Any) -> None:
        record, meter = life.record, life.meter
        if meter is None or len(record.metrics) >= _METRICS:
            return
        try:
            metric = float(value.detach() if isinstance(value, torch.Tensor) else value)
        except (TypeError, ValueError):
            return
        reading = meter.read(metric)
        record.metrics.append(metric)
        record.losses.append(reading.training)
        record.evaluation_losses.append(reading.evaluation)
        record.samples.append(reading.samples)
        record.metrics_equal_loss += reading.is_loss

    def on_scheduler_end(self, event: SchedulerStep) -> None:
        life = self._lives.get(id(event.scheduler))
        optimizer = getattr(event.scheduler, "optimizer", None)
        if life is None or optimizer is None:
            return
        record, lr = life.record, _lr(optimizer)
        if lr is None:
            return
        peak = max(record.lr_peak or 0.0, record.lr_first or 0.0, lr)
        record.lr_last, record.lr_peak = lr, peak
        if lr < _TINY * peak:
            if record.lr_tiny_at is None:
                record.lr_tiny_at = life.steps_at_call - life.steps_at_making
        else:
            record.lr_tiny_at = None
        if life.last_lr is not None and lr != life.last_lr:
            if lr > life.last_lr and life.falling:
                record.turns += 1
            life.falling = lr < life.last_lr
        life.last_lr = lr

    # what stands beside a metric

    def on_loss_end(self, event: LossCall) -> None:
        for meter in self._plateaus:
            meter.loss(event.value, event.args, event.grad)

    def on_backward_begin(self, event: Backward) -> None:
        if self._plateaus and event.tensors:
            for meter in self._plateaus:
                meter.backward(event.tensors[0])

    def on_forward_begin(self, event: Forward) -> None:
        if not self._plateaus or event.grad or not event.args:
            return
        first = event.args[0]
        if isinstance(first, torch.Tensor) and first.dim() > 0:
            for meter in self._plateaus:
                meter.samples += first.shape[0]

    def on_optimizer_made(self, event: OptimizerMade) -> None:
        gone = [key for key, life in self._lives.items() if life.reference() is None]
        for key in gone:
            life = self._lives.pop(key)
            if life.meter is not None:
                self._plateaus.remove(life.meter)

    # record

    def may_rest(self) -> bool:
        return not self._plateaus  # their metrics are compared with every loss

    def refresh(self) -> None:
        protocol = self._protocol()
        for life in self._lives.values():
            record = life.record
            steps = protocol.steps(record.optimizer)
            record.optimizer_steps = steps - life.steps_at_making
            record.steps_since_call = steps - life.steps_at_call
        for number, before in self._backwards_at_making.items():
            record = self.run.protocol.schedulers[number]
            record.backwards = protocol.backwards(record.optimizer) - before

    def on_ended(self, event: Ended) -> None:
        for record in self.run.protocol.schedulers:
            if record.calls == 0 and record.site is not None:
                record.called_conditionally = self._is_called_conditionally(record.site)

    def _is_called_conditionally(self, site: int) -> bool:
        """Whether the program holds `x.step(...)` under an `if`, with x the name the scheduler was bound to."""
        place = self.run.sites[site]
        names = _bound_names(place.path, place.line)
        return any(_steps_under_condition(path, names) for path in {s.path for s in self.run.sites})


def _settings(scheduler: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for name in _SETTINGS:
        value = getattr(scheduler, name, None)
        if isinstance(value, bool | int | float | str):
            settings[name] = value
        elif name == "milestones" and value is not None:
            settings[name] = sorted(int(v) for v in value)
    return settings


def _children(scheduler: Any) -> list[Any]:
    found = []
    for value in vars(scheduler).values():
        found += [v for v in (value if isinstance(value, list | tuple) else (value,)) if hasattr(v, "get_last_lr")]
    return found


def _lr(optimizer: Any) -> float | None:
    """The largest learning rate of the groups; tensors on a device are not waited for."""
    rates = []
    for group in getattr(optimizer, "param_groups", ()):
        lr = group.get("lr")
        if isinstance(lr, int | float) or (isinstance(lr, torch.Tensor) and lr.device.type == "cpu"):
            rates.append(float(lr))
    return max(rates, default=None)


def _bound_names(path: str, line: int) -> set[str]:
    """Names and attributes that the statement on a line assigns, and the keywords it passes."""
    root = blame.tree(path)
    names: set[str] = set()
    for node in ast.walk(root) if root is not None else ():
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.lineno <= line <= (node.end_lineno or node.lineno):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name):
                        names.add(part.id)
                    elif isinstance(part, ast.Attribute):
                        names.add(part.attr)
    return names - {"self"}


def _steps_under_condition(path: str, names: set[str]) -> bool:
    root = blame.tree(path)
    for node in ast.walk(root) if root is not None else ():
        if not isinstance(node, ast.If | ast.IfExp | ast.Match):
            continue
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "step":
                holder = call.func.value
                name = holder.attr if isinstance(holder, ast.Attribute) else getattr(holder, "id", None)
                if name in names:
                    return True
    return False
