"""What becomes of padded targets on their way into a loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from torchcaliper.source.trace import Event, Trace
from torchcaliper.source.values import Collection, Constant, Either, Place, Symbol, Value, constant

_PASSES = frozenset("flatten reshape view contiguous clone to long cuda transpose permute detach t".split())


@dataclass(slots=True)
class Written:
    """An assignment through an index: `labels[labels == 0] = -100`. `where` is None where it is not such a one."""

    where: object
    value: object
    place: Place


@dataclass(slots=True)
class Targets:
    """Padded targets of a loss, with nothing but views and shifts in between."""

    padded: Symbol
    written: list[Written] = field(default_factory=list)


def targets_of(trace: Trace, loss: Event) -> Iterator[Targets]:
    """The padded sequences that a loss takes as targets."""
    writes: dict[int, list[Event]] = {}
    for event in trace.named("set", "masked_fill_"):
        if event.attribute in ("[]", ""):
            writes.setdefault(id(event.receiver), []).append(event)
    stack: list[tuple[Value | None, list[Written]]] = [(loss.value("target"), [])]
    for _ in range(40):
        if not stack:
            return
        value, written = stack.pop()
        if isinstance(value, Either):
            stack.extend((option, written) for option in value.options)
        if not isinstance(value, Symbol):
            continue
        written = [*written, *(_written(event) for event in writes.get(id(value), ()))]
        if value.op == "pad_sequence":
            yield Targets(value, written)
        elif value.inputs and (value.op in _PASSES or _is_shift(value)):
            stack.append((value.inputs[0], written))


def _written(event: Event) -> Written:
    index, value = (*event.arguments.positional, None, None)[:2]
    where = None
    if isinstance(index, Symbol) and index.op == "eq" and len(index.inputs) == 2:
        where = constant(index.inputs[1])
    return Written(where, constant(value), event.place)


def _is_shift(made: Symbol) -> bool:
    """`x[:, 1:]`, `x[1:]`: all but one step."""
    index = made.options.get("index")
    parts = index.items if isinstance(index, Collection) else [index]
    return made.op == "getitem" and all(isinstance(p, Constant) and isinstance(p.value, slice) for p in parts)
