"""Tensors that backward needed and found changed: which write did it, and where the tensor was made."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from torchcaliper.run.events import Backward, GradCall, Operation, Step
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.nested import tensors_in
from torchcaliper.run.interruption import message
from torchcaliper.run.transforms import memory_of, node_of

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_MESSAGE = re.compile(
    r"modified by an inplace operation: \[(?:torch\.)?(?P<type>[\w.]+) \[(?P<shape>[\d, ]*)\]\]"
    r"(?:, which is output \d+ of (?P<node>\w+),)? is at version (?P<actual>\d+); expected version (?P<expected>\d+)"
)
_IN_PLACE = re.compile(r"__i(add|sub|mul|truediv|floordiv|mod|pow|and|or|xor|lshift|rshift|matmul)__|__setitem__")
#: operators of a look that are kept; an unrolled loop makes more of them than anybody can have in one graph by mistake
_KEPT = 20_000
#: steps after which the first look's operators are forgotten
_FORGET = 8
#: nodes under which a parameter's transposed view is saved
_VIEWS = ("T", "AsStrided", "Transpose", "Permute", "View", "Reshape", "UnsafeView", "Expand", "")


@dataclass(slots=True)
class _Write:
    order: int
    name: str
    site: int | None
    storage: int
    shape: tuple[int, ...]
    version: int


@dataclass(slots=True)
class _Product:
    order: int
    site: int | None
    storage: int
    shape: tuple[int, ...]
    node: str


class Overwritten(Instrument):
    """Fills `details` of failures whose cause is an in-place write."""

    name = "overwritten"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._order = 0
        self._writes: deque[_Write] = deque(maxlen=_KEPT)
        self._products: deque[_Product] = deque(maxlen=_KEPT)
        self._versions: dict[int, int] = {}
        self._stepped: dict[int, tuple[int, int | None]] = {}  # optimizer -> (order, site) of its last step
        self._steps = 0

    def on_operation(self, event: Operation) -> None:
        self._order += 1
        target = event.kwargs.get("out")
        if target is None and event.args:
            target = event.args[0]
        if isinstance(target, torch.Tensor) and _may_write(event, target):
            storage, version = memory_of(target), target._version
            if storage is not None and version > self._versions.get(storage, 0):
                self._versions[storage] = version
                name = event.name if event.name != "__setitem__" else "[...] ="
                self._writes.append(_Write(self._order, name, event.site, storage, tuple(target.shape), version))
        for tensor in tensors_in(event.result, depth=1):
            node = node_of(tensor)
            if node is not None:
                storage = memory_of(tensor)
                if storage is not None:
                    if tensor._base is None:  # memory that was used before starts anew
                        self._versions[storage] = tensor._version
                    self._products.append(
                        _Product(self._order, event.site, storage, tuple(tensor.shape), _plain(node.name()))
                    )
        if len(self._versions) > _KEPT:
            self._versions.clear()

    def on_step_end(self, event: Step) -> None:
        if event.nested:
            return
        self._order += 1
        self._stepped[self.session.objects.optimizer(event.optimizer)] = (self._order, event.site)
        self._steps += 1
        if self._steps == _FORGET:
            self._writes.clear()
            self._products.clear()
            self._versions.clear()

    def on_backward_end(self, event: Backward) -> None:
        if event.error is not None:
            self._explain(event.error)

    def on_grad_end(self, event: GradCall) -> None:
        if event.error is not None:
            self._explain(event.error)

    def _explain(self, error: BaseException) -> None:
        text = message(error)
        match = _MESSAGE.search(text)
        failure = next((f for f in reversed(self.run.failures) if f.message == text), None)
        if match is None or failure is None or "expected" in failure.details:
            return
        shape = tuple(int(n) for n in match["shape"].split(",") if n.strip())
        node, actual, expected = _plain(match["node"] or ""), int(match["actual"]), int(match["expected"])
        failure.details.update({"shape": list(shape), "node": node, "actual": actual, "expected": expected})
        found = self._in_graph(shape, node, actual, expected)
        if found is None:
            stepped = self._step(shape, node, actual)
            if stepped is not None:
                failure.details.update(stepped)
                return
            found = self._by_shape(shape, node, actual, expected)
        if found is not None:
            write, product = found
            failure.details.update({"write": write.name, "write_site": write.site})
            if product is not None:
                failure.details["made_site"] = product.site

    def _in_graph(
        self, shape: tuple[int, ...], node: str, actual: int, expected: int
    ) -> tuple[_Write, _Product | None] | None:
        """The first write after saving, on the storage of a tensor that this node made."""
        best: tuple[bool, _Write, _Product] | None = None
        for product in self._products:
            if product.node != node or product.shape != shape:
                continue
            writes = [w for w in self._writes if w.storage == product.storage and w.order > product.order]
            after = [w for w in writes if expected < w.version <= actual]
            if after:
                exact = any(w.version == actual for w in after)
                if best is None or exact > best[0]:
                    best = (exact, min(after, key=lambda w: w.version), product)
        return best[1:] if best is not None else None

    def _by_shape(
        self, shape: tuple[int, ...], node: str, actual: int, expected: int
    ) -> tuple[_Write, _Product | None] | None:
        """A leaf, or a view whose making was not seen: the write must fit the shape and the versions."""
        shapes = {shape, shape[::-1]} if node in _VIEWS else {shape}
        fitting = [w for w in self._writes if w.shape in shapes and w.version == expected + 1]
        storages = {w.storage for w in self._writes if w.shape in shapes and w.version == actual}
        fitting = [w for w in fitting if w.storage in storages]
        return (fitting[-1], None) if fitting else None

    def _step(self, shape: tuple[int, ...], node: str, actual: int) -> dict[str, Any] | None:
        """The optimizer that stepped last and holds a parameter of this shape and version."""
        if node not in _VIEWS:
            return None
        objects = self.session.objects
        best: tuple[int, dict[str, Any]] | None = None
        for number, optimizer in objects.optimizers():
            stepped = self._stepped.get(number)
            if stepped is None or (best is not None and stepped[0] < best[0]):
                continue
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    own = tuple(parameter.shape)
                    if parameter._version != actual or not (
                        own in (shape, shape[::-1]) or (node and _size(own) == _size(shape))
                    ):
                        continue
                    known = objects.known_parameter(parameter)
                    name = self.run.ledger.parameters[known].name if known is not None else f"a parameter {list(own)}"
                    best = (stepped[0], {"step_site": stepped[1], "optimizer": number, "parameter": name})
                    break
        return best[1] if best is not None else None


def _size(shape: tuple[int, ...]) -> int:
    size = 1
    for n in shape:
        size *= n
    return size


def _may_write(event: Operation, target: torch.Tensor) -> bool:
    name = event.name
    return (
        (name.endswith("_") and not name.endswith("__"))
        or _IN_PLACE.fullmatch(name) is not None
        or "out" in event.kwargs
        or event.kwargs.get("inplace") is True
        or event.result is target
    )


def _plain(node: str) -> str:
    """`AddmmBackward0` and `Addmm` are one name: releases of torch print it either way."""
    return re.sub(r"Backward\d*$", "", node)
