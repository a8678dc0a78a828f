"""Weights whose rows start all equal, and whether training makes them differ."""

from __future__ import annotations

import ast
import weakref
from typing import TYPE_CHECKING

import torch
from torch import nn

from torchcaliper.run import blame
from torchcaliper.run.events import Initialised, Step
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.samples import spread
from torchcaliper.run.record_numerics import Symmetry

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: weights checked, and kept in the record
_CHECKED, _KEPT = 2_000, 64
#: functions of torch.nn.init that give all elements one value
_CONSTANT = frozenset(("constant_", "zeros_", "ones_"))
#: methods that do
_FILLS = frozenset(("fill_", "zero_", "constant_", "zeros_", "ones_"))


class _Followed:
    __slots__ = ("before", "record", "weight")

    def __init__(self, record: Symmetry, weight: torch.Tensor) -> None:
        self.record, self.weight, self.before = record, weakref.ref(weight), spread(weight)


class Symmetries(Instrument):
    """Symmetric initialisation."""

    name = "symmetries"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._initialised: dict[int, tuple[weakref.ref[torch.Tensor], str, int | None]] = {}
        self._optimizers: set[int] = set()
        self._followed: list[_Followed] = []
        self._checked: set[int] = set()

    def on_initialised(self, event: Initialised) -> None:
        if event.function in _CONSTANT and len(self._initialised) < _CHECKED:
            self._initialised[id(event.tensor)] = (weakref.ref(event.tensor), event.function, event.site)
        else:
            self._initialised.pop(id(event.tensor), None)

    def on_step_begin(self, event: Step) -> None:
        if not self.session.deep or event.nested:
            return
        number = self.session.objects.known_optimizer(event.optimizer)
        if number is None:
            return
        with torch.no_grad():
            if number not in self._optimizers:
                self._optimizers.add(number)
                for group in event.optimizer.param_groups:
                    for weight in group["params"]:
                        self._check(weight)
            for followed in list(self._followed):
                self._follow(followed)

    def _check(self, weight: torch.Tensor) -> None:
        index = self.session.objects.known_parameter(weight)
        if (
            index is None
            or index in self._checked
            or len(self._checked) >= _CHECKED
            or len(self._followed) >= _KEPT
            or type(weight) not in (torch.Tensor, nn.Parameter)  # a fake one has no memory to read
            or weight.dim() < 2
            or weight.shape[0] < 2
            or weight[0].numel() < 2
            or weight.is_meta
            or not weight.is_floating_point()
        ):
            return
        self._checked.add(index)
        if not _rows_equal(weight):
            return
        record = Symmetry(index, weight.shape[0], zero=not bool(weight.any().item()), last_step=self.session.step)
        entry = self._initialised.get(id(weight))
        if entry is not None and entry[0]() is weight:
            record.function, record.site = entry[1], entry[2]
        else:
            record.site = self._statement(index)
        record.first_step = self.session.step
        self.run.numerics.symmetries.append(record)
        self._followed.append(_Followed(record, weight))

    def _follow(self, followed: _Followed) -> None:
        weight, record = followed.weight(), followed.record
        if weight is None:
            self._followed.remove(followed)
            return
        if not _rows_equal(weight):
            record.broken = True
            self._followed.remove(followed)
            return
        record.looks += 1
        record.last_step = self.session.step
        record.moved |= not torch.equal(spread(weight), followed.before)
        gradient = weight.grad
        if gradient is not None and not gradient.is_sparse:
            record.gradients += 1
            record.gradient |= bool(gradient.any().item())

    def _statement(self, index: int) -> int | None:
        """Where a weight that no function of torch.nn.init has set got its value."""
        parameter = self.run.ledger.parameters[index]
        root = self.session.objects.module(parameter.root) if parameter.root is not None else None
        name = parameter.name.rpartition(".")[2]
        if root is not None:
            owner: nn.Module | None = root
            for part in parameter.module.split(".")[1:]:
                owner = owner._modules.get(part) if owner is not None else None
            if owner is not None and not type(owner).__module__.startswith("torch."):
                site = blame.assignment(self.session, type(owner), name, attribute=True)
                if site is not None:
                    return site
        made = self.run.at(parameter.made_site)
        if made is None:
            return None
        lines = sorted(set(blame.find(made.path, _fills)))
        return self.session.site_at(made.path, lines[0], "") if len(lines) == 1 else parameter.made_site


def _fills(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLS


def _rows_equal(weight: torch.Tensor) -> bool:
    """Two rows first: most weights differ there."""
    plain = weight.detach()
    return torch.equal(plain[0], plain[1]) and bool((plain == plain[:1]).all().item())
