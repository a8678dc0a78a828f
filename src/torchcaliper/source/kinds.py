"""What a tensor is, from the expression that made it: probabilities, log-probabilities, a sigmoid's output."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from torchcaliper.findings import Location
from torchcaliper.source.layers import layer_type
from torchcaliper.source.operations import RESHAPES
from torchcaliper.source.values import Collection, Either, Object, Phi, Symbol, Value, constant

PROBABILITIES, LOG_PROBABILITIES, SIGMOID = "probabilities", "log-probabilities", "sigmoid"
#: what is added to probabilities so that their logarithm stays finite
_EPSILON = 1e-3
#: layers whose outputs are of any size and sign
_SCORES = ("Linear", "Conv", "Bilinear")
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
            if item.inputs and (item.op in RESHAPES or _keeps_kind(item)):
                stack.extend(reversed(item.inputs) if item.op in ("cat", "stack") else item.inputs[:1])
            else:
                yield item


def _keeps_kind(made: Symbol) -> bool:
    """Whether an operation leaves probabilities what they are: a clamp, a tiny constant added against log(0)."""
    if made.op in ("clamp", "clamp_", "clamp_min", "clip", "nan_to_num", "compile"):
        return True
    if made.op in ("add", "add_", "sub") and len(made.inputs) == 2:
        added = constant(made.inputs[1])
        return isinstance(added, float) and abs(added) <= _EPSILON
    return False


def _normalised_by_hand(made: Symbol) -> Symbol | None:
    """The exponential of `exp(x) / exp(x).sum(dim)`, written out; None for any other division."""
    if made.op not in ("truediv", "div", "div_") or len(made.inputs) < 2:
        return None
    for over in _through(made.inputs[0]):
        if over.op != "exp":
            continue
        if any(
            under.op == "sum" and under.inputs and over in _through(under.inputs[0])
            for under in _through(made.inputs[1])
        ):
            return over
    return None


def _through(value: Value | None) -> list[Symbol]:
    return list(islice(origins(value), 8))


def kind_of(value: Value | None) -> tuple[str, Symbol] | None:
    """What a tensor is on every way to it, and the operation that made it so; None where ways differ."""
    found: tuple[str, Symbol] | None = None
    for made in origins(value):
        kind = _MADE_BY.get(made.op)
        if kind is None and _normalised_by_hand(made) is not None:
            kind = PROBABILITIES
        if kind is None or (found is not None and found[0] != kind):
            return None
        found = found or (kind, made)
    return found


def plain_scores(value: Value | None) -> Symbol | None:
    """The last layer of a network whose output is used as it is, on every way; None where that is not known."""
    found: Symbol | None = None
    for made in origins(value):
        if not isinstance(made.by, Object) or not (layer_type(made.by) or "").startswith(_SCORES):
            return None
        found = found or made
    return found


def place_of(made: Symbol) -> Location | None:
    """The line that a fix of an operation changes: where the layer was made that did it, else the call."""
    place = made.by.place if isinstance(made.by, Object) else None
    place = place or made.place
    return None if place is None else place.location
