"""Which axis of an input an axis of a result is, back through the operations that made it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torchcaliper.source.operations import LAYERS
from torchcaliper.source.shapes import ELEMENTWISE, letters, shape_of
from torchcaliper.source.values import Collection, Constant, Either, Object, Phi, Symbol, Value, constant

_BINARY = frozenset({"add", "sub", "mul", "truediv", "div", "maximum", "minimum"})
_REDUCES = frozenset({"sum", "mean", "amax", "amin", "logsumexp", "std", "var", "argmax", "prod", "norm"})
_CONTRACTS = frozenset({"sum", "mean"})
_LAYERS_IN_PLACE = frozenset({"linear", "embedding", "batch_norm", "layer_norm", "group_norm"})
_MANY = 80


@dataclass(slots=True)
class Step:
    """A value on the way back, and which of its axes the one that is followed is."""

    value: Symbol
    axis: int
    #: whether another axis was summed away after this value
    summed: bool
    #: whether nothing but elementwise operations came after this value
    direct: bool


def follow_axis(value: Value | None, axis: int) -> Iterator[Step]:
    """All that a result was made of in which one of its axes still stands by itself."""
    seen: set[int] = set()
    stack: list[tuple[Value | None, int, bool, bool]] = [(value, axis, False, True)]
    while stack and len(seen) < _MANY:
        item, at, summed, direct = stack.pop()
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Either):
            stack.extend((option, at, summed, direct) for option in item.options)
        elif isinstance(item, Phi):
            stack.extend(((item.first, at, summed, direct), (item.next, at, summed, direct)))
        elif isinstance(item, Symbol):
            yield Step(item, at, summed, direct)
            for source, its_axis, sums in _before(item, at):
                stack.append((source, its_axis, summed or sums, direct and _is_elementwise(item)))


def _is_elementwise(made: Symbol) -> bool:
    return made.op in ELEMENTWISE or made.op in ("mul", "truediv", "log_softmax")


def _before(made: Symbol, axis: int) -> Iterator[tuple[Value, int, bool]]:
    """The inputs of an operation in which an axis of its result still is one axis, and whether another was summed."""
    if not made.inputs:
        return
    first = made.inputs[0]
    if made.op in ELEMENTWISE or made.op in _LAYERS_IN_PLACE:
        yield first, axis, False
    elif made.op in _BINARY and len(made.inputs) == 2:
        ranks = [_rank(part) for part in made.inputs]
        for part, own, other in zip(made.inputs, ranks, reversed(ranks), strict=True):
            if isinstance(made.inputs[1 - made.inputs.index(part)], Constant) or own == other:
                yield part, axis, False
    elif made.op in _REDUCES:
        yield from _reduced(made, axis)
    elif made.op == "einsum":
        yield from _einsum(made, axis)
    elif made.op in ("matmul", "bmm") and len(made.inputs) == 2 and axis == 0:
        if made.op == "bmm" or all(least_rank(part) >= 3 for part in made.inputs):
            yield from ((part, 0, True) for part in made.inputs)
    elif made.op.startswith("conv") and axis == 0:
        yield first, 0, False
    elif made.op in ("unsqueeze", "squeeze", "flatten", "transpose", "getitem"):
        moved = _moved(made, axis)
        if moved is not None:
            yield first, moved, False


def _reduced(made: Symbol, axis: int) -> Iterator[tuple[Value, int, bool]]:
    given = made.options.get("dim") or (made.inputs[1] if len(made.inputs) > 1 else None)
    dims = [constant(d) for d in (given.items if isinstance(given, Collection) else [given])]
    kept = constant(made.options.get("keepdim")) is True
    for dim in dims:
        if not isinstance(dim, int):
            return
        if dim == axis and kept:
            return
        if 0 <= dim <= axis and not kept:
            axis += 1
    yield made.inputs[0], axis, made.op in _CONTRACTS


def _einsum(made: Symbol, axis: int) -> Iterator[tuple[Value, int, bool]]:
    written = letters(made)
    if written is None:
        return
    operands, result = written
    if axis >= len(result):
        return
    # A letter of all operands counts independent products: each of them is a sum by itself.
    apart = all(result[axis] in operand for operand in operands)
    for operand, value in zip(operands, made.inputs[1:], strict=False):
        if operand.count(result[axis]) == 1:
            yield value, operand.index(result[axis]), apart and any(letter not in result for letter in operand)


def _moved(made: Symbol, axis: int) -> int | None:
    dim = constant(made.options.get("dim"))
    if made.op == "unsqueeze":
        if not isinstance(dim, int) or dim == axis:
            return None
        return axis - 1 if 0 <= dim < axis else axis
    if made.op == "squeeze":
        if not isinstance(dim, int):
            return None
        return axis + 1 if 0 <= dim <= axis else axis
    if made.op == "flatten":
        default = 1 if isinstance(made.by, Object) else 0
        start = constant(made.options.get("start_dim"), default)
        return axis if isinstance(start, int) and start > axis else None
    if made.op == "transpose":
        one, other = constant(made.options.get("dim0")), constant(made.options.get("dim1"))
        if not isinstance(one, int) or not isinstance(other, int) or (min(one, other) < 0 and axis != 0):
            return None
        if min(one, other) < 0 and axis in (one, other):
            return None
        return other if axis == one else one if axis == other else axis
    return _indexed(made.options.get("index"), axis)


def _indexed(index: Value | None, axis: int) -> int | None:
    parts = index.items if isinstance(index, Collection) and index.kind == "tuple" else [index]
    if axis != 0 or len(parts) < 2:
        return None
    first = parts[0]
    return 0 if isinstance(first, Constant) and first.value == slice(None, None, None) else None


def _rank(value: Value) -> tuple[int | None, int] | None:
    """How many dims a value has: a number by itself, or that of another value and a difference."""
    base: Value = value
    difference = 0
    for _ in range(24):
        shape = shape_of(base)
        if shape is not None:
            return None, len(shape) + difference
        if not isinstance(base, Symbol) or not base.inputs:
            break
        dim = constant(base.options.get("dim"))
        if base.op in ELEMENTWISE or base.op in _LAYERS_IN_PLACE:
            difference += base.op == "embedding"
        elif base.op == "unsqueeze":
            difference += 1
        elif base.op == "squeeze" and isinstance(dim, int):
            difference -= 1
        else:
            break
        base = base.inputs[0]
    return id(base), difference


def least_rank(value: Value | None) -> int:
    """A number of dims that a value has at least; 0 where nothing is known."""
    added = 0
    for _ in range(24):
        shape = shape_of(value)
        if shape is not None:
            return len(shape) + added
        if not isinstance(value, Symbol) or not value.inputs:
            return max(added, 0)
        if value.op == "einsum":
            written = letters(value)
            return (len(written[1]) if written is not None else 0) + added
        if value.op in ("conv1d", "conv2d", "conv3d") and is_from_loader(value):
            return 2 + int(value.op[-2]) + added
        if value.op == "linear" and is_from_loader(value.inputs[0]):
            return max(2, least_rank(value.inputs[0])) + added
        if value.op in ELEMENTWISE or value.op in _LAYERS_IN_PLACE:
            added += value.op == "embedding"
        elif value.op in ("unsqueeze", "squeeze") and "dim" in value.options:
            added += 1 if value.op == "unsqueeze" else -1
        else:
            return 2 + added if value.op == "bmm" else max(added, 0)
        value = value.inputs[0]
    return 0


def is_from_loader(value: Value | None) -> bool:
    """Whether a value is, layer after layer, made of the batches of a DataLoader that puts samples in front."""
    for _ in range(60):
        if isinstance(value, Phi):
            value = value.first
        elif isinstance(value, Either):
            value = value.options[0]
        elif not isinstance(value, Symbol):
            return False
        elif value.op == "batch":
            return _puts_samples_in_front(value.inputs[0])
        elif not value.inputs or not _keeps_front(value):
            return False
        else:
            value = value.inputs[0]
    return False


def _keeps_front(made: Symbol) -> bool:
    if made.op in ("getitem", "unsqueeze", "squeeze", "flatten"):
        source = made.inputs[0]
        return (isinstance(source, Symbol) and source.op == "batch") or _moved(made, 0) == 0
    return made.op in ELEMENTWISE or made.op in _LAYERS_IN_PLACE or made.op in _IN_FRONT or made.op in _BINARY


_IN_FRONT = frozenset(op for op, _ in LAYERS.values() if op.startswith("conv")) | {"max_pool2d", "avg_pool2d"}


def _puts_samples_in_front(loader: Value) -> bool:
    if not isinstance(loader, Object) or loader.arguments.open:
        return False
    given = loader.arguments
    if "collate_fn" in given.keywords or "batch_sampler" in given.keywords or len(given.positional) > 2:
        return False
    size = given.get("batch_size", 1)
    return size is not None and constant(size, 2) not in (None, 1)
