"""Sequences of different lengths in one tensor: what was padded, and means over what is left."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.source.shapes import shape_of
from torchcaliper.source.trace import Trace
from torchcaliper.source.values import Collection, Constant, Either, Phi, Symbol, Table, Value, constant

_MANY = 400
#: losses of classes, which leave out targets of `ignore_index`
_OF_CLASSES = ("cross_entropy", "nll_loss")
_SCALES = frozenset({"truediv", "div", "scale", "item", "detach", "float", "cpu"})


def made_from(value: Value | None) -> Iterator[Symbol]:
    """All operations that a value was computed by, on every way to it; bounded."""
    seen: set[int] = set()
    stack: list[Value | None] = [value]
    while stack and len(seen) < _MANY:
        item = stack.pop()
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Either):
            stack.extend(item.options)
        elif isinstance(item, Phi):
            stack.extend((item.first, item.next))
        elif isinstance(item, Collection | Table):
            stack.extend(item.all())
        elif isinstance(item, Symbol):
            yield item
            # How many batches a list holds does not depend on what is in them.
            counts = item.op == "len" and isinstance(item.inputs[0], Collection)
            stack.extend(() if counts else item.inputs)


def is_padded(value: Value | None) -> bool:
    """Whether sequences of different lengths were padded to make a value."""
    return any(made.op == "pad_sequence" for made in made_from(value))


def mean_over_tokens(value: Value | None) -> Symbol | None:
    """The loss that a number is, where it is a mean over the positions of one batch that are no padding.

    How many these are differs from batch to batch, so such means are of different weight.
    """
    for _ in range(12):
        if not isinstance(value, Symbol) or not value.inputs:
            return None
        if value.op in _OF_CLASSES:
            break
        if value.op not in _SCALES or any(is_padded(other) for other in value.inputs[1:]):
            return None
        value = value.inputs[0]
    if not isinstance(value, Symbol) or value.op not in _OF_CLASSES or len(value.inputs) < 2:
        return None
    if value.option("reduction") not in (None, "mean") or {"reduce", "size_average"} & set(value.options):
        return None
    ignored = value.options.get("ignore_index")
    return value if ignored is not None and constant(ignored, 0) is not None and is_padded(value.inputs[1]) else None


def padded_behind(trace: Trace) -> set[int]:
    """The tensors whose rows are padded at their ends: of `pad_sequence`, or filled row by row, by id."""
    found = {id(e.result) for e in trace.named("pad_sequence") if "padding_side" not in e.arguments.keywords}
    for event in trace.named("set"):
        given = event.arguments.positional
        if event.attribute != "[]" or len(given) != 2 or event.context.loop is None or event.context.condition:
            continue
        index, value = given
        if not isinstance(index, Collection) or len(index.items) != 2 or _is_slice(index.items[0]):
            continue
        start, stop = _bounds(index.items[1])
        begins = start is None and stop is not None and not isinstance(value, Constant) and _is_filled(event.receiver)
        if begins or (start is not None and stop is None and isinstance(value, Constant)):
            found.add(id(event.receiver))
    return found


def padded_rows(trace: Trace) -> set[int]:
    """The tensors whose rows are padded at either end, by id."""
    found = padded_behind(trace) | {id(event.result) for event in trace.named("pad_sequence")}
    for event in trace.named("set"):
        given = event.arguments.positional
        if event.attribute != "[]" or len(given) != 2 or event.context.loop is None or isinstance(given[1], Constant):
            continue
        index = given[0]
        if isinstance(index, Collection) and len(index.items) == 2 and _is_filled(event.receiver):
            start, stop = _bounds(index.items[1])
            if not _is_slice(index.items[0]) and (start is None) is not (stop is None):
                found.add(id(event.receiver))
    return found


def _is_slice(value: Value) -> bool:
    return _bounds(value) != (None, None) or isinstance(constant(value), slice)


def _bounds(value: Value) -> tuple[object, object]:
    """Where a slice begins and ends; None for an end that is not written."""
    if isinstance(value, Symbol) and value.op == "slice":
        start, stop = (None if isinstance(end, Constant) and end.value is None else end for end in value.inputs[:2])
        return start, stop
    written = constant(value)
    return (written.start, written.stop) if isinstance(written, slice) else (None, None)


def _is_filled(value: Value | None) -> bool:
    return isinstance(value, Symbol) and value.op in _FILLED


_FILLED = frozenset("zeros ones full zeros_like full_like ones_like new_zeros new_full new_ones".split())


def padding_of(padded: Symbol) -> int | None:
    """The value that `pad_sequence` fills up with."""
    given = padded.options.get("padding_value")
    value = 0 if given is None else constant(given)
    return int(value) if isinstance(value, int | float) and value == int(value) else None


def sequences_of(padded: Symbol) -> list[Value]:
    """The sequences that were padded, as far as they are known."""
    first = padded.inputs[0] if padded.inputs else padded.options.get("sequences")
    found: list[Value] = []
    for part in first.all() if isinstance(first, Collection) else ():
        found.extend(part.options if isinstance(part, Either) else (part,))
    return found


def unpadded_lengths_differ(padded: Symbol) -> bool:
    """Whether sequences that were padded may be of different lengths: not all of one that is known."""
    shapes = [shape_of(sequence) for sequence in sequences_of(padded)]
    return not shapes or not all(shape and isinstance(shape[0], int) for shape in shapes)


def ends_in(padded: Symbol, token: int) -> bool:
    """Whether every sequence that was padded certainly ends in a token: `cat([..., tensor([token])])`."""
    sequences = sequences_of(padded)
    return bool(sequences) and all(_last(sequence) == token for sequence in sequences)


def _last(sequence: Value | None) -> object:
    for _ in range(8):
        if isinstance(sequence, Collection):
            sequence = sequence.items[-1] if sequence.items and sequence.known else None
        elif isinstance(sequence, Symbol) and sequence.op in _JOINS and sequence.inputs:
            sequence = sequence.inputs[-1] if sequence.op == "add" else sequence.inputs[0]
        else:
            break
    return constant(sequence)


_JOINS = frozenset("cat tensor as_tensor LongTensor add clone long".split())
