"""Masks: which positions they mark, and what is written where they mark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torchcaliper.source.trace import Trace
from torchcaliper.source.values import Collection, Constant, Either, Place, Symbol, Value, constant

REAL, PADDING = "real", "padding"
_OTHER = {REAL: PADDING, PADDING: REAL}
_CASTS = frozenset(
    "bool long int float to unsqueeze getitem expand view reshape repeat contiguous clone type half detach".split()
)
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


def token_ids(trace: Trace) -> set[int]:
    """The tensors that an embedding looks up, by id."""
    return {id(event.value("input")) for event in trace.named("embedding")}


def marks(mask: Value | None, ids: set[int]) -> str | None:
    """Whether a mask is true at real positions or at padding, by the comparison that made it; None if not known.

    `ids != 0` and `positions < lengths` are true at real positions, `ids == 0` and `positions >= lengths` at padding.
    """
    turned = False
    for _ in range(12):
        if not isinstance(mask, Symbol) or not mask.inputs:
            return None
        first = mask.inputs[0]
        if mask.op in ("invert", "not", "logical_not"):
            turned, mask = not turned, first
        elif mask.op == "sub" and constant(first) == 1:
            turned, mask = not turned, mask.inputs[1]
        elif mask.op in ("eq", "ne") and len(mask.inputs) == 2:
            if id(first) in ids:
                found = REAL if mask.op == "ne" else PADDING
                return _OTHER[found] if turned else found
            against = constant(mask.inputs[1])
            if against not in (0, 1):
                return None
            turned, mask = turned ^ (bool(against) is (mask.op == "ne")), first
        elif mask.op in _MIRRORED and len(mask.inputs) == 2:
            by_length = _by_length(mask)
            return by_length if by_length is None or not turned else _OTHER[by_length]
        elif mask.op in _CASTS:
            mask = first
        else:
            return None
    return None


def _by_length(compared: Symbol) -> str | None:
    left, right = (_is_positions(side) for side in compared.inputs)
    if left is right:
        return None  # two rows of positions are a causal mask
    op = compared.op if left else _MIRRORED[compared.op]
    return {"lt": REAL, "ge": PADDING}.get(op)


def _is_positions(value: Value) -> bool:
    for _ in range(6):
        if not isinstance(value, Symbol):
            return False
        if value.op == "arange":
            return True
        if value.op not in _CASTS or not value.inputs:
            return False
        value = value.inputs[0]
    return False


@dataclass(slots=True)
class Fill:
    """A value that is written into scores where a mask is true."""

    mask: Value | None
    value: float
    place: Place


_BEFORE_SOFTMAX = frozenset(
    "masked_fill masked_fill_ where truediv div mul add sub float to clone contiguous dropout view reshape".split()
)


def fills_before_softmax(trace: Trace) -> Iterator[Fill]:
    """What is filled into the scores of each softmax."""
    written: dict[int, list[Fill]] = {}
    for event in trace.named("masked_fill_", "set"):
        given = event.arguments.positional
        number = constant(given[1]) if len(given) == 2 else None
        if (event.name == "set" and event.attribute != "[]") or not isinstance(number, int | float):
            continue
        # An assignment through an index marks where the index is a mask; `x[:, 0] = 0` is something else.
        if not isinstance(given[0], Constant | Collection):
            written.setdefault(id(event.receiver), []).append(Fill(given[0], float(number), event.place))
    for event in trace.named("softmax"):
        stack: list[Value | None] = [event.value("input")]
        for _ in range(16):
            if not stack:
                break
            value = stack.pop()
            yield from written.get(id(value), ())
            if isinstance(value, Either):
                stack.extend(value.options)
            if not isinstance(value, Symbol) or value.op not in _BEFORE_SOFTMAX or not value.inputs:
                continue
            fill = _fill(value)
            if fill is not None:
                yield fill
            stack.append(value.inputs[0])


def _fill(made: Symbol) -> Fill | None:
    if made.place is None:
        return None
    if made.op == "masked_fill":
        number = constant(made.options.get("value"))
        return Fill(made.options.get("mask"), float(number), made.place) if isinstance(number, int | float) else None
    if made.op == "where":
        number = constant(made.options.get("other"))
        if not isinstance(number, int | float):
            return None
        return Fill(Symbol("invert", (made.options["condition"],)), float(number), made.place)
    if made.op == "add" and len(made.inputs) == 2:
        return _added(made.inputs[1])
    return None


def _added(bias: Value) -> Fill | None:
    """`(1 - mask) * -1e9`, added to scores."""
    while isinstance(bias, Symbol) and bias.op in _CASTS and bias.inputs:
        bias = bias.inputs[0]
    if not isinstance(bias, Symbol) or bias.op != "mul" or bias.place is None or len(bias.inputs) != 2:
        return None
    for mask, number in (bias.inputs, bias.inputs[::-1]):
        value = constant(number)
        if isinstance(value, int | float) and isinstance(mask, Symbol) and _is_mask(mask):
            return Fill(mask, float(value), bias.place)
    return None


def _is_mask(value: Value) -> bool:
    while isinstance(value, Symbol) and value.op in _CASTS and value.inputs:
        value = value.inputs[0]
    if not isinstance(value, Symbol):
        return False
    return value.op in ("eq", "ne", "invert") or (value.op == "sub" and constant(value.inputs[0]) == 1)
