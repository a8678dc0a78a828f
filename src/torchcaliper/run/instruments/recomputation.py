"""Activation checkpointing: whether gradients can get in, and whether the recomputation is the same computation.

What a checkpointed part does besides computing is seen by what it leaves behind: the state of the random number
generators, and the version counters of its buffers, before it, after it, and once more after the backward that has
run it again.
"""

from __future__ import annotations

import inspect
import random
import sys
import weakref
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run import walk
from torchcaliper.run.events import Backward, CheckpointCall, Step
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.nested import tensors_in
from torchcaliper.run.instruments.samples import spread
from torchcaliper.run.record_numerics import Recomputation as Record

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: calls of a line that are looked at in any case; later ones only in deep steps
_CALLS = 64
_LINES = 64
#: buffers of one part whose versions are compared
_BUFFERS = 4_096


class _Inside:
    """What a call in progress had before it."""

    __slots__ = ("buffers", "generators", "numpy", "python", "record")

    def __init__(self, record: Record) -> None:
        self.record = record
        self.buffers: list[tuple[str, nn.Module, torch.Tensor, int]] = []
        self.generators: list[Any] = []
        self.python: Any = None
        self.numpy: Any = None


class _Written:
    """A buffer as a forward has left it."""

    __slots__ = ("_buffer", "_values", "_version", "layer", "record", "where")

    def __init__(self, record: Record, where: str, layer: nn.Module, buffer: torch.Tensor) -> None:
        self.record, self.where, self.layer = record, where, weakref.ref(layer)
        self._buffer, self._version = weakref.ref(buffer), buffer._version
        # BatchNorm never writes the same again; a cache may.
        known = isinstance(layer, nn.modules.batchnorm._NormBase)
        self._values = None if known else spread(buffer)

    def was_written_again(self) -> bool:
        """Whether the recomputation has changed it once more."""
        buffer = self._buffer()
        if buffer is None or buffer._version == self._version:
            return False
        return self._values is None or not torch.equal(self._values, spread(buffer))


class Recomputation(Instrument):
    """Calls of checkpoint()."""

    name = "recomputation"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._records: dict[int | None, Record] = {}
        self._stack: list[_Inside | None] = []
        #: buffers that a forward has written: their versions after it
        self._written: list[_Written] = []
        self._called: set[int | None] = set()  # lines, since the last step

    def on_checkpoint_begin(self, event: CheckpointCall) -> None:
        self._stack.append(None)
        if not event.grad:
            return
        record = self._record(event)
        if record is None:
            return
        record.calls += 1
        if event.site not in self._called:
            self._called.add(event.site)
            record.steps += 1
        if record.calls > _CALLS and not self.session.deep:
            return
        inside = self._stack[-1] = _Inside(record)
        for module in enclosing(event.function)[0]:
            for path, layer in walk.named_modules(module):
                if type(layer).__name__ == "_SpectralNorm":  # one power iteration more does no harm
                    continue
                for name, buffer in layer._buffers.items():
                    if (
                        buffer is not None
                        and not buffer.is_inference()
                        and buffer.layout is torch.strided
                        and len(inside.buffers) < _BUFFERS
                    ):
                        where = ".".join(p for p in (type(module).__name__, path, name) if p)
                        inside.buffers.append((where, layer, buffer, buffer._version))
        inside.generators = _generators()
        inside.python = random.getstate()
        inside.numpy = _numpy_state()

    def on_checkpoint_end(self, event: CheckpointCall) -> None:
        inside = self._stack.pop() if self._stack else None
        if inside is None:
            return
        record = inside.record
        given = tensors_in((event.args, {k: v for k, v in event.kwargs.items() if k != "context_fn"}), 16)
        outputs = tensors_in(event.output, 8)
        if record.reentrant and not any(t.requires_grad for t in given) and outputs:
            record.without_grad += not any(t.requires_grad for t in outputs)
            if not record.parameters:
                self._find_parameters(record, event)
        record.random += inside.generators != _generators()
        record.random_python += inside.python != random.getstate() or inside.numpy != _numpy_state()
        for where, layer, buffer, version in inside.buffers:
            if buffer._version != version and len(self._written) < _BUFFERS:
                self._written.append(_Written(record, where, layer, buffer))

    def _record(self, event: CheckpointCall) -> Record | None:
        record = self._records.get(event.site)
        if record is None and len(self._records) < _LINES:
            reentrant = event.reentrant if event.reentrant is not None else _reentrant_by_default()
            record = Record(event.site, _name(event.function), reentrant, event.preserved, first_step=self.session.step)
            forward = self.session.local.forward
            if forward is not None:
                record.root = self.session.objects.known_root(forward.root)
            self._records[event.site] = record
            self.run.numerics.recomputations.append(record)
        return record

    def _find_parameters(self, record: Record, event: CheckpointCall) -> None:
        modules, exact = enclosing(event.function)
        objects = self.session.objects
        found = {
            number
            for module in modules
            for parameter in walk.parameters(module)
            if parameter.requires_grad and (number := objects.known_parameter(parameter)) is not None
        }
        record.parameters, record.whole = sorted(found), not exact

    def on_backward_end(self, event: Backward) -> None:
        self._stack.clear()  # an exception inside leaves its entry behind
        if not self._written:
            return
        written, self._written = self._written, []
        twice: set[int] = set()
        for entry in written:
            record, where, owner = entry.record, entry.where, entry.layer()
            if owner is None or not entry.was_written_again():
                continue
            if id(record) not in twice:
                twice.add(id(record))
                record.twice += 1
            if where not in record.buffers and len(record.buffers) < 32:
                record.buffers.append(where)
                made = self.session.objects.made(owner)
                record.buffer_site = made[1] if made is not None and record.buffer_site is None else record.buffer_site
                record.batch_norm |= isinstance(owner, nn.modules.batchnorm._BatchNorm)

    def on_step_end(self, event: Step) -> None:
        self._called.clear()
        self._written.clear()


def enclosing(function: Any) -> tuple[list[nn.Module], bool]:
    """Modules that a checkpointed function calls, and whether it is these and nothing else."""
    if isinstance(function, nn.Module):
        return [function], True
    owner = getattr(function, "__self__", None)
    if isinstance(owner, nn.Module):
        return [owner], getattr(function, "__name__", "") in ("forward", "__call__")
    inner = getattr(function, "func", None)  # functools.partial
    if inner is not None and inner is not function:
        return enclosing(inner)
    found: list[nn.Module] = []
    for held in _named_in(function):
        for item in held[:64] if isinstance(held, list | tuple) else (held,):
            if isinstance(item, nn.Module):
                found.append(item)
            else:
                bound = getattr(item, "__self__", None)
                if isinstance(bound, nn.Module):
                    found.append(bound)
    found += [v for v in getattr(function, "__defaults__", None) or () if isinstance(v, nn.Module)]
    return found, False


def _named_in(function: Any) -> Iterator[Any]:
    """What a function's own code names: variables of the functions around it, and of its module."""
    for cell in getattr(function, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not bound yet
            continue
    code = getattr(function, "__code__", None)
    if code is not None:
        names = getattr(function, "__globals__", {})
        yield from (names[name] for name in code.co_names if name in names)


def _name(function: Any) -> str:
    if isinstance(function, nn.Module):
        return type(function).__name__
    name = getattr(function, "__name__", type(function).__name__)
    return "the function" if name == "<lambda>" else str(name)


def _numpy_state() -> Any:
    numpy = sys.modules.get("numpy")
    state = getattr(getattr(numpy, "random", None), "get_state", None)
    if state is None:
        return None
    kind, keys, *rest = state()
    return kind, keys.tobytes(), *rest


@cache
def _reentrant_by_default() -> bool:
    """What leaving out use_reentrant means in this torch."""
    try:
        return "use_reentrant = True" in inspect.getsource(torch.utils.checkpoint.checkpoint)
    except (OSError, TypeError):
        return True


def _generators() -> list[Any]:
    """States of torch's generators; reading them waits for no device."""
    states: list[Any] = [torch.default_generator.get_state().numpy().tobytes()]
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        states += [generator.get_offset() for generator in torch.cuda.default_generators]
    return states
