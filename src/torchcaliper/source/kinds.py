"""What a tensor is, from the expression that made it: probabilities, log-probabilities, a sigmoid's output."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Location
from torchcaliper.source.operations import RESHAPES
from torchcaliper.source.values import Collection, Either, Object, Phi, Symbol, Value

PROBABILITIES, LOG_PROBABILITIES, SIGMOID = "probabilities", "log-probabilities", "sigmoid"
_MADE_BY = {
    "softmax": PROBABILITIES,
    "softmin": PROBABILITIES,
    "gumbel_softmax": PROBABILITIES,
    "log_softmax": LOG_PROBABILITIES,
    "logsigmoid": LOG_PROBABILITIES,
    "sigmoid": SIGMOID,
}


def origins(value: Value | None) -> Iterator[Symbol]:
    """The operations that made a tensor's values, behind views, casts and indexing: one for each way to it."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        item = stack.pop()
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Either):
            stack.extend(reversed(item.options))
        elif isinstance(item, Phi):
            stack.extend((item.next, item.first))
        elif isinstance(item, Collection):
            stack.extend(item.all())
        elif isinstance(item, Symbol):
            if item.op in RESHAPES and item.inputs:
                stack.extend(reversed(item.inputs) if item.op in ("cat", "stack") else item.inputs[:1])
            else:
                yield item


def kind_of(value: Value | None) -> tuple[str, Symbol] | None:
    """What a tensor is on every way to it, and the operation that made it so; None where ways differ."""
    found: tuple[str, Symbol] | None = None
    for made in origins(value):
        kind = _MADE_BY.get(made.op)
        if kind is None or (found is not None and found[0] != kind):
            return None
        found = found or (kind, made)
    return found


def place_of(made: Symbol) -> Location | None:
    """The line that a fix of an operation changes: where the layer was made that did it, else the call."""
    place = made.by.place if isinstance(made.by, Object) else None
    place = place or made.place
    return None if place is None else place.location
