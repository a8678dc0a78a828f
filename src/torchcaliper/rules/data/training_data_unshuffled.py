"""D105: training batches grouped by label."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchcaliper.findings import Edit, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.datasets import loader_option, training_loaders, whole_dataset
from torchcaliper.source.edits import inserted
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Collection, Constant, Object, Symbol, Value, constant, options


class TrainingDataUnshuffled(Rule):
    """Training batches come grouped by label.

    ## What it finds
    A loader that training goes through in order (no `shuffle=True`, no sampler) over data whose labels are known to
    stand in groups: written class by class and joined, repeated element by element, or sorted.

    ## Why it matters
    Each batch holds one class or two. The network learns to answer the class of the hour and forgets the others; the
    last classes win.

    ## Faulty
    ```python
    y = torch.cat([torch.full((300,), c) for c in range(10)])
    loader = DataLoader(TensorDataset(x, y), batch_size=32)
    ```

    ## Sound
    ```python
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    ```

    ## When it is silent
    For data whose order is not known, for time series and token streams, for arrays that were permuted before, for
    loaders that are not trained with, and for samplers of any kind.

    ## References
    * https://docs.pytorch.org/docs/stable/data.html#data-loading-order-and-sampler
    """

    code = "D105"
    name = "training-data-unshuffled"
    severity = Severity.WARNING

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            for loader, loop in training_loaders(trace).values():
                if loader.place is None or id(loader.place.node) in told or not _in_order(loader):
                    continue
                dataset = whole_dataset(loader_option(loader, "dataset"))
                if not isinstance(dataset, Object) or not dataset.is_a("torch.utils.data.TensorDataset"):
                    continue
                grouped = next((g for column in dataset.arguments.positional[1:] if (g := _grouped(column))), None)
                if grouped is None:
                    continue
                told.add(id(loader.place.node))
                yield self.finding(
                    "training goes through the data in order, and they stand grouped by label",
                    at=loader.place.location,
                    evidence=[
                        evidence("the labels are made here", grouped.place.location if grouped.place else None),
                        evidence("the training loop", loop.place.location),
                    ],
                    fix="shuffle=True",
                    edits=_shuffled(loader),
                    safe=False,
                )


def _in_order(loader: Object) -> bool:
    given = loader_option(loader, "shuffle")
    if loader.arguments.open or (given is not None and constant(given) is not False):
        return False
    others = [loader_option(loader, name) for name in ("sampler", "batch_sampler")]
    return all(other is None or (isinstance(other, Constant) and other.value is None) for other in others)


#: operations that keep the order of rows
_KEEP = frozenset("getitem long float to tensor from_numpy as_tensor view reshape squeeze unsqueeze clone int".split())


def _grouped(column: Value | None) -> Symbol | None:
    """The operation that put labels into groups, where nothing has mixed them since."""
    for _ in range(12):
        item = next(iter(options(column)), None)
        if not isinstance(item, Symbol):
            return None
        if item.op in ("cat", "call:concatenate", "stack"):
            return item if _of_constant_parts(item) else None
        if item.op in ("repeat_interleave", "call:repeat", "call:repeat_interleave"):
            return item if item.inputs and _ascends(item.inputs[0]) else None
        if item.op not in _KEEP or not item.inputs:
            return None
        if item.op == "getitem" and _mixes(item.options.get("index")):
            return None
        column = item.inputs[0]
    return None


def _of_constant_parts(joined: Symbol) -> bool:
    """Whether a list of parts, each of one label, was joined: `full(n, c)` for one class after the other."""
    parts = joined.inputs[0] if joined.inputs else None
    if not isinstance(parts, Collection):
        return False
    found = [option for part in parts.all() for option in options(part)]
    return bool(found) and all(_is_one_label(part) for part in found)


def _is_one_label(part: Value) -> bool:
    while isinstance(part, Symbol) and part.op in ("long", "to", "float", "int") and part.inputs:
        part = part.inputs[0]
    if not isinstance(part, Symbol):
        return False
    if part.op in ("full", "call:full"):
        filled = part.options.get("fill_value") or (part.inputs[1] if len(part.inputs) > 1 else None)
        return isinstance(filled, Symbol | Constant)
    if part.op == "mul":
        return any(isinstance(p, Symbol) and p.op in ("ones", "ones_like", "call:ones") for p in part.inputs)
    return part.op in ("zeros", "ones")


def _ascends(value: Value) -> bool:
    return isinstance(value, Symbol) and value.op in ("arange", "call:arange")


_MIXING = frozenset("randperm call:permutation call:shuffle argsort parameter call multinomial".split())


def _mixes(index: Value | None) -> bool:
    """Whether an index may put rows into another order."""
    if isinstance(index, Constant):
        return False
    stack: list[Value | None] = [index]
    for _ in range(30):
        if not stack:
            return False
        item = stack.pop()
        if isinstance(item, Symbol):
            if item.op in (
                "randperm",
                "call:permutation",
                "call:shuffle",
                "argsort",
                "parameter",
                "call",
                "multinomial",
            ):
                return True
            stack.extend(item.inputs)
        elif isinstance(item, Collection):
            stack.extend(item.all())
    return True


def _shuffled(loader: Object) -> list[Edit]:
    """`shuffle=True` behind the last argument, where none says otherwise."""
    node, place = loader.place.node if loader.place is not None else None, loader.place
    if not isinstance(node, ast.Call) or place is None or loader_option(loader, "shuffle") is not None:
        return []
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return [inserted(place.file, given[-1], ", shuffle=True")] if given else []
