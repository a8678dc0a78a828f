"""Where values that depend on parameters leave the autograd graph, and losses that no parameter can be reached from.

Works from close looks: the operators of the first training step, and of later ones while the ledger sees parameters
that are used and get no gradient. Within a look a value that left the graph is followed, through tensors, Python
numbers and arrays, to the loss: what is only printed or counted is no fault.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run.events import Backward, Operation, Step
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.record import Cut, LeafLoss

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: operators that turn a tensor into plain values
_VALUES = frozenset({"item", "tolist", "numpy", "__float__", "__int__", "__array__"})
#: operators that make a tensor of plain values
_MAKERS = frozenset(
    {"tensor", "as_tensor", "from_numpy", "asarray", "scalar_tensor", "full", "full_like", "new_tensor", "new_full"}
)
#: their result has the argument's form, not its values
_FORMS = ("_like", "new_")
#: graph walks per look (some 4 us a node), nodes per walk, and looks asked for on suspicion
_WALKS, _NODES, _LOOKS = 64, 5_000, 3
#: numbers of a list that are followed
_NUMBERS = 1_024
#: lines with cuts kept in the record
_KEPT = 256
#: first backward passes whose graph is walked to see whether parameters are in reach
_FIRST = 4

Taint = frozenset[int]
_NONE: Taint = frozenset()


class Cuts(Instrument):
    """Cuts of the graph, followed to the loss."""

    name = "cuts"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._cuts: dict[tuple[str, int | None], int] = {}
        self._tensors: dict[int, tuple[weakref.ref[torch.Tensor], Taint]] = {}
        self._arrays: dict[int, tuple[weakref.ref[Any], Taint]] = {}
        self._numbers: dict[float, Taint] = {}
        self._loose: Taint = _NONE  # values that became arrays or integers: their way cannot be followed
        self._shapes: dict[tuple[int, ...], Taint] = {}  # of such arrays: torch.from_numpy() is not told
        self._leaves: dict[int, tuple[weakref.ref[torch.Tensor], int | None, str]] = {}
        self._walked: dict[int, tuple[weakref.ref[torch.Tensor], frozenset[int]]] = {}
        self._walks = 0
        self._asked = 0
        self._stepping = False
        self._sites: dict[int | None, LeafLoss] = {}
        self._backwards = 0
        self._foreign: dict[int | None, bool] = {}

    def want_look(self) -> None:
        """Ask for a close look at the next step, unless several have been had."""
        if self._asked < _LOOKS:
            self._asked += 1
            self.session.look()

    # operators

    def on_step_begin(self, event: Step) -> None:
        self._stepping = True

    def on_step_end(self, event: Step) -> None:
        self._stepping = False
        if self._tensors or self._numbers or self._loose or self._walks:
            self._tensors.clear()
            self._arrays.clear()
            self._numbers.clear()
            self._shapes.clear()
            self._walked.clear()
            self._loose = _NONE
            self._walks = 0

    def on_operation(self, event: Operation) -> None:
        if self._stepping:
            return
        name = event.name
        if name == "__set__":
            if event.property == "requires_grad" and len(event.args) > 1 and event.args[1] is True:
                self._leaf(event.args[0], event.site, "requires_grad = True")
            return
        if name == "requires_grad_":
            if isinstance(event.result, torch.Tensor) and event.result.requires_grad:
                self._leaf(event.result, event.site, "requires_grad_()")
            return
        given = list(_tensors(event.args)) + (list(_tensors(event.kwargs.values())) if event.kwargs else [])
        taint = self._taint_of(given)
        if name in _MAKERS or (self._numbers and not given):
            taint |= self._taint_of_values((*event.args, *event.kwargs.values()))
        elif self._numbers:
            taint |= self._taint_of_numbers(event.args)
        sources = [t for t in given if t.requires_grad]
        results = list(_tensors((event.result,)))
        if name in _VALUES:
            if sources or taint:
                if sources:
                    taint |= {self._cut(name.strip("_"), event.site, sources)}
                self._follow_value(event.result, taint)
            return
        if sources and results and not any(r.requires_grad for r in results) and not _form(name):
            kind = ("data" if name == "__get__" else name) if event.grad else "no_grad"
            taint |= {self._cut(kind, event.site, sources)}
        if name in ("tensor", "as_tensor", "asarray") and results and results[0].requires_grad and results[0].is_leaf:
            self._leaf(results[0], event.site, f"{name}(..., requires_grad=True)")
        if taint:
            if name == "__setitem__" and given:
                results = [given[0]]
            for result in results:
                self._mark(result, taint)

    def _leaf(self, tensor: Any, site: int | None, how: str) -> None:
        if isinstance(tensor, torch.Tensor) and not isinstance(tensor, nn.Parameter):
            self._leaves[id(tensor)] = (weakref.ref(tensor), site, how)

    def _cut(self, operation: str, site: int | None, sources: list[torch.Tensor]) -> int:
        number = self._cuts.get((operation, site))
        if number is None:
            if len(self._cuts) >= _KEPT:
                return next(iter(self._cuts.values()))
            number = self._cuts[operation, site] = len(self.run.ledger.cuts)
            self.run.ledger.cuts.append(Cut(operation, site, first_step=self.session.step))
        record = self.run.ledger.cuts[number]
        record.times += 1
        known = set(record.parameters)
        for tensor in sources:
            known |= self._reached(tensor)
        record.parameters = sorted(known)
        return number

    def _reached(self, tensor: torch.Tensor) -> frozenset[int]:
        """Numbers of the parameters a tensor was computed from."""
        before = self._walked.get(id(tensor))
        if before is not None and before[0]() is tensor:
            return before[1]
        if self._walks >= _WALKS:
            return frozenset()
        self._walks += 1
        found = set()
        for leaf in leaves(tensor)[0]:
            index = self.session.objects.known_parameter(leaf)
            if index is None and isinstance(leaf, nn.Parameter):
                index = self.session.objects.parameter(leaf)
            if index is not None:
                found.add(index)
        self._walked[id(tensor)] = (weakref.ref(tensor), frozenset(found))
        return frozenset(found)

    # following values

    def _mark(self, tensor: torch.Tensor, taint: Taint) -> None:
        key, tensors = id(tensor), self._tensors

        def forget(_: Any) -> None:
            tensors.pop(key, None)

        tensors[key] = (weakref.ref(tensor, forget), taint)

    def _taint_of(self, tensors: list[torch.Tensor]) -> Taint:
        taint = _NONE
        if self._tensors or self._shapes:
            for tensor in tensors:
                entry = self._tensors.get(id(tensor))
                if entry is not None:
                    taint |= entry[1]
                elif self._shapes and not tensor.requires_grad:
                    taint |= self._shapes.get(tuple(tensor.shape), _NONE)
        return taint

    def _follow_value(self, value: Any, taint: Taint) -> None:
        numbers = list(_numbers(value))
        if numbers:
            for number in numbers:
                self._numbers[number] = taint
        elif type(value).__module__ == "numpy":
            self._arrays[id(value)] = (weakref.ref(value), taint)
            self._loose |= taint
            if value.ndim:
                self._shapes[value.shape] = self._shapes.get(value.shape, _NONE) | taint
        elif isinstance(value, int | float):
            self._loose |= taint

    def _taint_of_numbers(self, values: Any) -> Taint:
        taint = _NONE
        for value in values:
            if type(value) is float:
                taint |= self._numbers.get(value, _NONE)
        return taint

    def _taint_of_values(self, values: Any) -> Taint:
        taint = _NONE
        for value in values:
            if type(value).__module__ == "numpy":
                entry = self._arrays.get(id(value))
                floating = getattr(getattr(value, "dtype", None), "kind", "") == "f"
                taint |= entry[1] if entry is not None and entry[0]() is value else self._loose if floating else _NONE
                continue
            for number in _numbers(value):
                taint |= self._numbers.get(number, _NONE)
        return taint

    # the loss

    def on_backward_begin(self, event: Backward) -> None:
        self._backwards += 1
        if len(event.tensors) != 1:
            return
        loss = event.tensors[0]
        record = self._sites.get(event.site)
        taint = self._taint_of([loss])
        for cut in taint:
            self.run.ledger.cuts[cut].in_loss += 1
        if record is not None:
            record.of += 1
        if not loss.requires_grad:
            self._leaf_loss(event, loss, taint, record).failed = True
        elif loss.grad_fn is None:
            if self.session.objects.known_parameter(loss) is None and not isinstance(loss, nn.Parameter):
                self._leaf_loss(event, loss, taint, record)
        elif self._is_foreign(event, loss):
            self._leaf_loss(event, loss, taint, record).leaf = False

    def _is_foreign(self, event: Backward, loss: torch.Tensor) -> bool:
        """The loss has a graph, but no parameter is in it."""
        known = self._foreign.get(event.site)
        power = self._backwards & (self._backwards - 1) == 0
        if known is not None and not (power or (self._backwards <= _FIRST)):
            return known
        if known is None and len(self._foreign) > _KEPT:
            return False
        found, whole = leaves(loss)
        objects = self.session.objects
        foreign = (
            whole
            and bool(found)
            and not any(isinstance(t, nn.Parameter) or objects.known_parameter(t) is not None for t in found)
        )
        self._foreign[event.site] = foreign
        return foreign

    def _leaf_loss(self, event: Backward, loss: torch.Tensor, taint: Taint, record: LeafLoss | None) -> LeafLoss:
        if record is None:
            record = self._sites[event.site] = LeafLoss(event.site, first_step=self.session.step, of=1)
            self.run.ledger.leaf_losses.append(record)
        record.times += 1
        record.cuts = sorted({*record.cuts, *taint} | self._earlier(taint))
        for leaf in [loss] if loss.grad_fn is None else leaves(loss)[0]:
            entry = self._leaves.get(id(leaf))
            if entry is not None and entry[0]() is leaf:
                record.made_site, record.made_by = entry[1], entry[2]
        return record

    def _earlier(self, taint: Taint) -> set[int]:
        """When nothing leads to the loss: the values that became arrays or plain integers on the way."""
        return set() if taint else set(self._loose)


def leaves(tensor: torch.Tensor) -> tuple[list[torch.Tensor], bool]:
    """Leaves a tensor was computed from, and whether all can be seen (a checkpoint or own Function hides some)."""
    if tensor.grad_fn is None:
        return ([tensor] if tensor.requires_grad else []), True
    found: list[torch.Tensor] = []
    stack, seen, whole = [tensor.grad_fn], {tensor.grad_fn}, True
    while stack:
        if len(seen) > _NODES:
            return found, False
        node = stack.pop()
        variable = getattr(node, "variable", None) if not node.next_functions else None
        if isinstance(variable, torch.Tensor):
            found.append(variable)
        elif isinstance(node, torch.autograd.function.BackwardCFunction):
            whole = False
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                stack.append(following)
    return found, whole


def _tensors(values: Any, depth: int = 2) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif depth and isinstance(value, list | tuple):
            yield from _tensors(value[:_NUMBERS], depth - 1)


def _numbers(value: Any, depth: int = 3) -> Iterator[float]:
    """Floats worth following: zero and one arise everywhere."""
    if type(value) is float:
        if value not in (0.0, 1.0) and math.isfinite(value):
            yield value
    elif depth and isinstance(value, list | tuple):
        for item in value[:_NUMBERS]:
            yield from _numbers(item, depth - 1)


def _form(name: str) -> bool:
    return name.endswith(_FORMS[0]) or name.startswith(_FORMS[1])
