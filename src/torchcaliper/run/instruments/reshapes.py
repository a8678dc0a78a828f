"""Views and reshapes that exchange axes."""

from __future__ import annotations

import os
import sys
import weakref
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from torchcaliper.run.events import Batch, Forward, Operation, Step
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.record_dependence import Regrouping
from torchcaliper.run.regrouping import exchanged, is_torn, moved
from torchcaliper.run.trace import tensors

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_RESHAPES = frozenset({"view", "reshape", "view_as", "reshape_as"})
#: lengthened or joined on purpose before they are read at another stride (relative positions, skewing)
_PADDED = frozenset({"pad", "constant_pad_nd", "cat", "concat", "new_zeros", "as_strided"})
_PASSING = frozenset({"view", "reshape", "contiguous", "clone", "flatten"})
_KEPT = 64


class Reshapes(Instrument):
    """Keeps `run.dependence.regroupings`."""

    name = "reshapes"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._padded: dict[int, weakref.ref[Any]] = {}
        self._from: dict[int, tuple[weakref.ref[Any], tuple[int, ...]]] = {}
        self._data: dict[int, weakref.ref[Any]] = {}
        self._batch: int | None = None
        self._root: int | None = None
        self._stepping = False
        self._seen: dict[tuple[int | None, str], tuple[Regrouping, int]] = {}

    def on_step_begin(self, event: Step) -> None:
        self._stepping = True
        self._padded.clear()
        self._from.clear()
        self._data.clear()

    def on_step_end(self, event: Step) -> None:
        self._stepping = False

    def on_batch(self, event: Batch) -> None:
        first = next(tensors((event.data,), 3), None)
        self._batch = first.shape[0] if first is not None and first.dim() else None

    def on_forward_begin(self, event: Forward) -> None:
        if not self.session.looking or not event.grad:
            return
        self._root = self.session.objects.root(event.root)
        given = [t for t in tensors((*event.args, event.kwargs), 3) if t.dim()]
        for tensor in given[:32]:
            self._data[id(tensor)] = weakref.ref(tensor)
        if given and self._batch is None:
            self._batch = given[0].shape[0]

    def on_operation(self, event: Operation) -> None:
        if self._stepping or not isinstance(event.result, torch.Tensor) or event.result.layout is not torch.strided:
            return
        name = event.name
        if name in _PADDED:
            self._padded[id(event.result)] = weakref.ref(event.result)
            return
        source = event.args[0] if event.args and isinstance(event.args[0], torch.Tensor) else None
        if source is None:
            return
        padded = self._is(self._padded, source)
        if padded and name in _PASSING:
            self._padded[id(event.result)] = weakref.ref(event.result)
        if not event.result.requires_grad and self._is(self._data, source):
            self._data[id(event.result)] = weakref.ref(event.result)
        if name not in _RESHAPES or padded or isinstance(source, nn.Parameter):
            return
        if not source.requires_grad and not self._is(self._data, source):
            return
        if source.layout is not torch.strided or source.numel() != event.result.numel() or source.stride().count(0):
            return
        self._look(event, source)

    def _look(self, event: Operation, source: torch.Tensor) -> None:
        before, after = tuple(source.shape), tuple(event.result.shape)
        earlier = self._from.get(id(source))
        if earlier is not None and earlier[0]() is source and earlier[1] == after:
            return  # turned back
        kind = exchanged(before, after, self._batch)
        if not kind:
            return
        if not self._is_users_own():
            return
        self._from[id(event.result)] = (weakref.ref(event.result), before)
        key = (event.site, kind)
        known = self._seen.get(key)
        if known is not None:
            record, step = known
            if step != self.session.step:
                record.times += 1
                self._seen[key] = (record, self.session.step)
            return
        if len(self._seen) >= _KEPT:
            return
        record = Regrouping(
            operator=event.name,
            site=event.site,
            root=self._root,
            before=list(before),
            after=list(after),
            kind=kind,
            torn=is_torn(before, after),
            moves_batch=self._batch in moved(before, after),
            first_step=self.session.step,
        )
        self._seen[key] = (record, self.session.step)
        self.run.dependence.regroupings.append(record)

    def _is_users_own(self) -> bool:
        """Whether the user's code called the operator itself: what libraries reshape is theirs to know."""
        frame: FrameType | None = sys._getframe(2)
        sites = self.session.sites
        while frame is not None and sites.is_torch(frame.f_code.co_filename) and not _in_torch(frame):
            frame = frame.f_back
        return frame is not None and sites.is_user(frame.f_code.co_filename)

    @staticmethod
    def _is(known: dict[int, weakref.ref[Any]], tensor: torch.Tensor) -> bool:
        entry = known.get(id(tensor))
        return entry is not None and entry() is tensor


_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep


def _in_torch(frame: FrameType) -> bool:
    return os.path.abspath(frame.f_code.co_filename).startswith(_TORCH)
