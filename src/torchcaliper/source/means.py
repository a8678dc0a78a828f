"""Means that an evaluation takes over the batches of a loader."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torchcaliper.source.metrics import sense
from torchcaliper.source.operations import LOSSES
from torchcaliper.source.shapes import shape_of
from torchcaliper.source.trace import Event, Loop, Trace
from torchcaliper.source.values import Collection, Object, Phi, Symbol, Value, constant, options

_PASSES = frozenset({"item", "float", "detach", "cpu", "tolist"})


@dataclass(slots=True)
class BatchMean:
    """The mean of one batch, added to those of the others and divided by their number."""

    #: what is added for each batch
    added: Symbol
    #: the mean in it
    mean: Symbol
    #: the division
    at: Event
    loop: Loop


def batch_means(trace: Trace) -> Iterator[BatchMean]:
    """Means over the turns of a loop, without gradients, of what is a mean over its batch already."""
    for event in trace.named("divide", "update", "mean"):
        for added in _summands(event):
            loop = added.context.loop if added.context is not None else None
            mean = _mean_of(added)
            if loop is not None and mean is not None and not mean.recorded:
                yield BatchMean(added, mean, event, loop)


def _summands(event: Event) -> Iterator[Symbol]:
    if event.name == "mean":
        yield from _elements(event.arguments.get("input", 0) or event.receiver)
        return
    if event.name == "update" and event.full != "truediv":
        return
    whole, count = event.receiver, event.arguments.get("", 0)
    if not _counts_turns(count):
        return
    for option in options(whole):
        if isinstance(option, Symbol) and option.op == "total":
            yield from _elements(option.inputs[0])
        elif isinstance(option, Symbol) and option.op == "add":
            carried, added = option.inputs[0], option.inputs[1]
            if isinstance(carried, Phi) and constant(carried.first) == 0 and isinstance(added, Symbol):
                yield added


def _elements(listed: Value | None) -> Iterator[Symbol]:
    """What a list holds that a loop has filled."""
    if isinstance(listed, Symbol) and listed.op in ("tensor", "stack", "as_tensor", "call:array") and listed.inputs:
        listed = listed.inputs[0]
    if isinstance(listed, Collection) and not listed.items:
        for option in options(listed.element):
            if isinstance(option, Symbol):
                yield option


def _counts_turns(count: Value | None) -> bool:
    """Whether a number is that of a loop's turns: a loader's length, a list's, a counter's."""
    for option in options(count):
        if not isinstance(option, Symbol) or not option.inputs:
            continue
        first = option.inputs[0]
        if option.op == "len":
            return isinstance(first, Collection) or (isinstance(first, Object) and first.is_a(_LOADER))
        if option.op == "add" and isinstance(first, Phi):
            return bool(constant(first.first) == 0 and constant(option.inputs[1]) == 1)
    return False


_LOADER = "torch.utils.data.DataLoader"


def _mean_of(added: Symbol) -> Symbol | None:
    value: Value = added
    while isinstance(value, Symbol) and value.op in _PASSES and value.inputs:
        value = value.inputs[0]
    if not isinstance(value, Symbol) or sense(value) is None:
        return None
    if value.op in LOSSES:
        plain = value.option("reduction") in (None, "mean") and not {"reduce", "size_average"} & set(value.options)
        return value if plain else None
    return value if value.op == "mean" and "dim" not in value.options and len(value.inputs) == 1 else None


def last_batch(loader: Value | None) -> tuple[int, int] | None:
    """The size of a loader's last batch and of the others, where they certainly differ."""
    if not isinstance(loader, Object) or not loader.is_a(_LOADER) or loader.arguments.open:
        return None
    given = loader.arguments
    samples = _samples(given.get("dataset", 0))
    if samples is None or any(name in given.keywords for name in ("batch_sampler", "sampler", "collate_fn")):
        return None
    dropped = given.keywords.get("drop_last")
    if dropped is not None and constant(dropped) is not False:
        return None
    for option in options(given.get("batch_size", 1)):
        size = constant(option)
        if isinstance(size, int) and 1 < size < samples and samples % size:
            return samples % size, size
    return None


def _samples(dataset: Value | None) -> int | None:
    if not isinstance(dataset, Object) or not dataset.is_a("torch.utils.data.TensorDataset") or dataset.arguments.open:
        return None
    # All of its tensors have as many rows.
    shapes = [shape_of(tensor) for tensor in dataset.arguments.positional]
    sizes = [shape[0] for shape in shapes if shape]
    return next((size for size in sizes if isinstance(size, int)), None)
