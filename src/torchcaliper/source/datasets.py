"""Loaders and what they read: which dataset, in what order, in how many processes."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.source.shapes import shape_of
from torchcaliper.source.trace import Event, Loop, Region, Trace
from torchcaliper.source.values import (
    Collection,
    Constant,
    Either,
    Object,
    Phi,
    Symbol,
    Table,
    Value,
    constant,
    options,
)

LOADER = "torch.utils.data.DataLoader"
#: parameters of DataLoader in order
_PARAMETERS = (
    "dataset",
    "batch_size",
    "shuffle",
    "sampler",
    "batch_sampler",
    "num_workers",
    "collate_fn",
    "pin_memory",
    "drop_last",
)


def is_loader(value: Value | None) -> bool:
    return isinstance(value, Object) and value.is_a(LOADER)


def loader_option(loader: Object | Region, name: str) -> Value | None:
    """An argument of a DataLoader, by name; None when it was not given."""
    position = _PARAMETERS.index(name) if name in _PARAMETERS else None
    return loader.arguments.get(name, position)


def has_workers(loader: Object | Region) -> bool:
    """Whether a loader has, or may have, worker processes made by fork."""
    given = loader_option(loader, "num_workers")
    if given is None or loader_option(loader, "multiprocessing_context") is not None:
        return False
    return any(not (isinstance(option, Constant) and not option.value) for option in options(given))


def loads_in_workers(trace: Trace) -> bool:
    """Whether a loader with workers is made at all."""
    return any(
        isinstance(e.result, Object) and is_loader(e.result) and has_workers(e.result) for e in trace.named("make")
    )


def loading(event: Event) -> Region | None:
    """The loader that something is done for, where a dataset's methods run."""
    return event.context.within(LOADER)


def made_while_loading(value: Value) -> bool:
    """Whether a value was made by a dataset's methods, not before."""
    context = value.context if isinstance(value, Object | Symbol | Collection | Table) else None
    return context is not None and context.within(LOADER) is not None


def loaders_of(loop: Loop) -> Iterator[Object]:
    """The loaders whose batches a loop goes through, by themselves or within enumerate, zip and the like."""
    stack: list[Value | None] = [loop.over]
    for _ in range(20):
        if not stack:
            return
        item = stack.pop()
        if isinstance(item, Either | Phi):
            stack.extend(options(item))
        elif isinstance(item, Collection):
            stack.extend(item.all())
        elif isinstance(item, Object) and is_loader(item):
            yield item
        elif isinstance(item, Symbol) and item.op in ("batch", "call:islice", "element"):
            stack.extend(item.inputs[:1])


def training_loaders(trace: Trace) -> dict[int, tuple[Object, Loop]]:
    """The loaders over which a loop trains, by id: it calls backward in each turn."""
    found: dict[int, tuple[Object, Loop]] = {}
    for backward in trace.named("backward"):
        for loop in backward.context.loops():
            for loader in loaders_of(loop):
                found.setdefault(id(loader), (loader, loop))
    return found


def whole_dataset(value: Value | None) -> Value | None:
    """A dataset without the subsets around it."""
    for _ in range(8):
        if isinstance(value, Object) and value.is_a("torch.utils.data.Subset"):
            value = value.arguments.get("dataset", 0)
        elif isinstance(value, Symbol) and value.op == "getitem" and _is_split(value.inputs[0]):
            split = value.inputs[0]
            assert isinstance(split, Symbol)
            value = split.options.get("dataset") or (split.inputs[0] if split.inputs else None)
        else:
            break
    return value


def _is_split(value: Value) -> bool:
    return isinstance(value, Symbol) and value.op == "random_split"


def length_of(dataset: Value | None) -> int | None:
    """How many samples a dataset has, where the source tells it."""
    if isinstance(dataset, Object):
        if dataset.is_a("torch.utils.data.TensorDataset"):
            first = dataset.arguments.positional[0] if dataset.arguments.positional else None
            shape = shape_of(first)
            return shape[0] if shape and isinstance(shape[0], int) else None
        if dataset.is_a("torch.utils.data.Subset"):
            indices = dataset.arguments.get("indices", 1)
            return len(indices.items) if isinstance(indices, Collection) and indices.known else None
        known = constant(dataset.attributes.get("[length]"))
        return known if isinstance(known, int) else None
    if isinstance(dataset, Symbol) and dataset.op == "getitem" and _is_split(dataset.inputs[0]):
        split = dataset.inputs[0]
        lengths = split.options.get("lengths") if isinstance(split, Symbol) else None
        index = constant(dataset.options.get("index"))
        if isinstance(lengths, Collection) and lengths.known and isinstance(index, int) and index < len(lengths.items):
            size = constant(lengths.items[index])
            return size if isinstance(size, int) else None
    return None


def last_batch(loader: Object) -> int | None:
    """The size of a loader's last batch, where it is known and differs from the others'; 0 where it does not."""
    dropped = loader_option(loader, "drop_last")
    if loader.arguments.open or (dropped is not None and constant(dropped) is not False):
        return None
    if loader_option(loader, "batch_sampler") is not None or loader_option(loader, "sampler") is not None:
        return None
    length = length_of(loader_option(loader, "dataset"))
    sizes = {constant(option) for option in options(loader_option(loader, "batch_size"))}
    rests = {length % size for size in sizes if isinstance(size, int) and size > 0} if length is not None else set()
    return max(rests, default=None)
