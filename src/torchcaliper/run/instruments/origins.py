"""Which operator, at which line, made a tensor and made it non-contiguous: known of what a close look has seen.

Tensors are held weakly. In `watch()` and `look()` what has a graph carries its line in the metadata of its node as
well, which lives and dies with the graph, so that `torchcaliper.graph` can name lines.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from torchcaliper.run.events import Operation
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.nested import tensors_in
from torchcaliper.run.transforms import node_of

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: key of the entry in a node's metadata: (path, line, operator)
KEY = "torchcaliper"
#: tensors remembered at once; those that die are forgotten
_KEPT = 50_000
#: results of one operator that are remembered
_SEVERAL = 16


@dataclass(frozen=True, slots=True)
class Origin:
    """The operator that made a tensor, and the one that gave it its strides."""

    name: str
    site: int | None
    strided_by: str = ""  # "" for contiguous ones
    strided_site: int | None = None


class _Reference(weakref.ref[torch.Tensor]):
    """A weak reference that knows its entry."""

    __slots__ = ("key",)
    key: int


class Origins(Instrument):
    """Remembers; fills nothing of the record by itself."""

    name = "origins"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        #: write lines into the metadata of nodes
        self.marking = False
        self._known: dict[int, tuple[_Reference, str, int | None, str, int | None]] = {}
        known = self._known

        def forget(reference: weakref.ref[torch.Tensor]) -> None:
            known.pop(reference.key, None)  # type: ignore[attr-defined]

        self._forget = forget

    def of(self, tensor: torch.Tensor) -> Origin | None:
        """Where a tensor was made; None when no look has seen it."""
        entry = self._known.get(id(tensor))
        return Origin(*entry[1:]) if entry is not None and entry[0]() is tensor else None

    def on_operation(self, event: Operation) -> None:
        result = event.result
        if event.property or len(self._known) >= _KEPT:
            return
        if isinstance(result, torch.Tensor):
            self._note(event, result)
        elif isinstance(result, tuple | list):
            for tensor in result[:_SEVERAL]:
                if isinstance(tensor, torch.Tensor):
                    self._note(event, tensor)

    def _note(self, event: Operation, result: torch.Tensor) -> None:
        if self.marking:
            self._mark(event, result)
        for given in event.args:
            # In place, and where nothing had to be done (`contiguous`, `to`), it was made before.
            if given is result or (type(given) in (tuple, list) and any(g is result for g in given)):
                return
        by, at = "", None
        if result.layout is torch.strided and not result.is_contiguous():
            by, at = event.name, event.site
            for given in tensors_in((event.args, event.kwargs), 4, 3):
                before = self._known.get(id(given))
                if before is not None and before[3] and before[0]() is given:
                    by, at = before[3:]
                    break
        reference = _Reference(result, self._forget)
        reference.key = key = id(result)
        self._known[key] = (reference, event.name, event.site, by, at)

    def _mark(self, event: Operation, result: torch.Tensor) -> None:
        node = node_of(result)
        if node is not None and event.site is not None:
            place = self.run.sites[event.site]
            node.metadata.setdefault(KEY, (place.path, place.line, event.name))
