"""Whether a number is a loss, which should fall, or a share of right answers, which should grow."""

from __future__ import annotations

from torchcaliper.source.operations import LOSSES
from torchcaliper.source.values import Collection, Constant, Either, Phi, Symbol, Value, constant

FALLS, GROWS = "falls", "grows"
#: operations that keep the sense of a number
_KEEPS = frozenset(
    (
        "mean sum item float double total truediv mul add carry average nanmean detach cpu numpy div long int half "
        "nansum sqrt squeeze view reshape getitem tolist call:sum call:mean call:float call:round call:average"
    ).split()
)


def sense(value: Value | None, depth: int = 0) -> str | None:
    """FALLS, GROWS, or None where the source does not tell."""
    if depth > 24 or value is None:
        return None
    if isinstance(value, Either):
        return _common([sense(option, depth + 1) for option in value.options])
    if isinstance(value, Phi):
        return sense(value.next, depth + 1)
    if isinstance(value, Collection):
        return _common([sense(part, depth + 1) for part in value.all()])
    if not isinstance(value, Symbol):
        return None
    if value.op in LOSSES:
        return FALLS
    if value.op == "eq":
        return GROWS if _are_answers(value) else None
    if value.op in ("pow", "abs", "square") and _is_difference(value.inputs[0]):
        return FALLS
    if value.op == "neg":
        return _reversed(sense(value.inputs[0], depth + 1))
    if value.op == "sub" and isinstance(value.inputs[0], Constant):
        return _reversed(sense(value.inputs[1], depth + 1))
    if value.op == "mul" and any(_is_negative(part) for part in value.inputs):
        return None
    if value.op not in _KEEPS:
        return None
    if value.op in ("truediv", "div"):
        return sense(value.inputs[0], depth + 1)
    return _common([sense(part, depth + 1) for part in value.inputs if not isinstance(part, Constant)], some=True)


def _are_answers(compared: Symbol) -> bool:
    """Whether one side of a comparison is the class with the highest score."""
    stack: list[Value] = list(compared.inputs)
    for _ in range(16):
        if not stack:
            return False
        item = stack.pop()
        if isinstance(item, Symbol):
            if item.op in ("argmax", "max", "gt", "ge", "round", "topk"):
                return True
            stack.extend(item.inputs[:2])
        elif isinstance(item, Either):
            stack.extend(item.options)
    return False


def _is_difference(value: Value) -> bool:
    return isinstance(value, Symbol) and value.op == "sub" and not any(isinstance(p, Constant) for p in value.inputs)


def _is_negative(value: Value) -> bool:
    number = constant(value)
    return isinstance(number, int | float) and number < 0


def _reversed(way: str | None) -> str | None:
    return None if way is None else (GROWS if way == FALLS else FALLS)


def _common(ways: list[str | None], some: bool = False) -> str | None:
    known = {way for way in ways if way is not None}
    if len(known) != 1 or (None in ways and not some):
        return None
    return known.pop()
