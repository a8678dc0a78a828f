"""Writes into memory that several elements share, and snapshots that are the very memory they should remember."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run import blame
from torchcaliper.run.events import Operation, Step
from torchcaliper.run.frames import locals_of
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.record_numerics import AliasedWrite

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: lines kept in the record, and values made in a look that are remembered
_LINES, _MADE = 64, 20_000
#: operators that compare two tensors
_COMPARES = frozenset(
    ("sub", "subtract", "__sub__", "__rsub__", "mse_loss", "l1_loss", "smooth_l1_loss", "dist", "pairwise_distance")
)
#: operators that give another name to the same memory
_ALIASES = frozenset(("detach", "__get__", "view", "view_as", "reshape", "alias", "expand", "__getitem__", "flatten"))


class Aliases(Instrument):
    """Aliased writes."""

    name = "aliases"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._lines: dict[tuple[str, int | None], AliasedWrite] = {}
        self._made: dict[int, weakref.ref[torch.Tensor]] = {}  # in this step's look
        self._expanded: dict[int, tuple[weakref.ref[torch.Tensor], int | None]] = {}

    def on_step_end(self, event: Step) -> None:
        self._made.clear()
        self._expanded.clear()

    def on_operation(self, event: Operation) -> None:
        name = event.name
        if name == "__setitem__":
            self._judge_write(event)
        elif name in _COMPARES:
            self._judge_comparison(event)
        if name in _ALIASES and type(event.result) is torch.Tensor and len(self._made) < _MADE:
            self._made[id(event.result)] = weakref.ref(event.result)
        is_expanded = name in ("expand", "expand_as", "broadcast_to") and isinstance(event.result, torch.Tensor)
        if is_expanded and len(self._expanded) < _MADE:
            self._expanded[id(event.result)] = (weakref.ref(event.result), event.site)

    def _judge_write(self, event: Operation) -> None:
        target = event.args[0]
        if type(target) is not torch.Tensor or target.layout is not torch.strided or len(event.args) < 2:
            return
        shared = [d for d in range(target.dim()) if target.stride(d) == 0 and target.shape[d] > 1]
        if not shared or not _chooses(event.args[1], shared, target):
            return
        record = self._record("expanded", "x[...] = y", event.site)
        if record is None:
            return
        record.times += 1
        record.shape = list(target.shape)
        record.copies = max(target.shape[d] for d in shared)
        known = self._expanded.get(id(target))
        if known is not None and known[0]() is target:
            record.made_site = known[1]

    def _judge_comparison(self, event: Operation) -> None:
        """A parameter compared with another name of itself that was kept from an earlier step."""
        if len(event.args) < 2:
            return
        one, other = event.args[0], event.args[1]
        if type(one) is torch.Tensor and type(other) is nn.Parameter:
            one, other = other, one
        if type(one) is not nn.Parameter or type(other) is not torch.Tensor or one.layout is not torch.strided:
            return
        if (
            other.layout is not torch.strided
            or one.shape != other.shape
            or one.stride() != other.stride()
            or one.is_meta
            or other.is_meta
        ):
            return
        if one.data_ptr() != other.data_ptr() or not one.numel() or one.device != other.device:
            return
        number = self.session.objects.known_parameter(one)
        made = self._made.get(id(other))
        if number is None or not self.session.step or (made is not None and made() is other):
            return
        if not self.run.ledger.parameters[number].optimizers:
            return
        record = self._record("snapshot", event.name.strip("_"), event.site)
        if record is None:
            return
        record.times += 1
        if record.last_step == self.session.step and record.steps:
            return
        record.last_step = self.session.step
        record.steps += 1
        if not record.name:
            record.name = self.run.ledger.parameters[number].name
            self._find_holder(record, other)

    def _find_holder(self, record: AliasedWrite, kept: torch.Tensor) -> None:
        """The variable that keeps it, and the statement that bound it."""
        for frame in self.session.user_frames():
            for name, value in locals_of(frame).items():
                if _holds(value, kept):
                    site = blame.assignment(
                        self.session, frame.f_code, name, attribute=False, before=frame.f_lineno or None
                    )
                    if site is not None and value is not kept:
                        record.holder, record.made_site = name, site
                        return
                if not isinstance(value, nn.Module) and type(value).__module__ in ("builtins", "torch"):
                    continue
                for attribute, inner in list(getattr(value, "__dict__", {}).items())[:256]:
                    if _holds(inner, kept):
                        site = blame.assignment(self.session, type(value), attribute, attribute=True)
                        if site is not None:
                            record.holder, record.made_site = f"{name}.{attribute}", site
                            return

    def _record(self, kind: str, operator: str, site: int | None) -> AliasedWrite | None:
        record = self._lines.get((kind, site))
        if record is None and len(self._lines) < _LINES:
            record = self._lines[kind, site] = AliasedWrite(kind, operator, site, step=self.session.step)
            self.run.numerics.aliased.append(record)
        return record


def _holds(value: Any, kept: torch.Tensor) -> bool:
    if value is kept:
        return True
    if isinstance(value, list | tuple):
        return any(item is kept for item in value[:4_096])
    if type(value) is dict:
        return len(value) <= 4_096 and any(item is kept for item in value.values())
    return False


def _chooses(index: Any, shared: list[int], target: torch.Tensor) -> bool:
    """Whether an index takes only some of the elements that share one place."""
    parts = list(index) if isinstance(index, tuple) else [index]
    if any(p is None or p is True or p is False for p in parts):
        return False
    if any(isinstance(p, torch.Tensor) and p.dtype is torch.bool and p.dim() > 1 for p in parts):
        return len(parts) == 1 and any(d < parts[0].dim() for d in shared)
    if Ellipsis in [p for p in parts if not isinstance(p, torch.Tensor)]:
        at = next(i for i, p in enumerate(parts) if p is Ellipsis)
        parts[at : at + 1] = [slice(None)] * (target.dim() - len(parts) + 1)
    for dim in shared:
        if dim >= len(parts):
            continue
        part = parts[dim]
        if isinstance(part, slice):
            if len(range(*part.indices(target.shape[dim]))) < target.shape[dim]:
                return True
        else:
            return True
    return False
