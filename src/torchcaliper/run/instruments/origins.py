"""Which operator, at which line, made a tensor and made it non-contiguous: known of what a close look has seen.

Tensors are held weakly. What has a graph carries its line in the metadata of its node as well, which lives and dies
with the graph, so that `torchcaliper.graph` can name lines.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from torchcaliper.run.events import Operation
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.nested import tensors_in

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: key of the entry in a node's metadata: (path, line, operator)
KEY = "torchcaliper"
#: tensors remembered at once; those that die are forgotten
_KEPT = 50_000


@dataclass(frozen=True, slots=True)
class Origin:
    """The operator that made a tensor, and the one that gave it its strides."""

    name: str
    site: int | None
    strided_by: str = ""  # "" for contiguous ones
    strided_site: int | None = None


class Origins(Instrument):
    """Remembers; fills nothing of the record by itself."""

    name = "origins"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], Origin]] = {}

    def of(self, tensor: torch.Tensor) -> Origin | None:
        """Where a tensor was made; None when no look has seen it."""
        entry = self._known.get(id(tensor))
        return entry[1] if entry is not None and entry[0]() is tensor else None

    def on_operation(self, event: Operation) -> None:
        if event.property or len(self._known) >= _KEPT:
            return
        given = tensors_in((event.args, event.kwargs), 8, 3)
        for result in tensors_in(event.result, depth=1):
            self._mark(event, result)
            # In place, and where nothing had to be done (`contiguous`, `to`), it was made before.
            if not any(result is tensor for tensor in given):
                self._note(event, result, given)

    def _note(self, event: Operation, result: torch.Tensor, given: list[torch.Tensor]) -> None:
        by, at = "", None
        if result.layout is torch.strided and not result.is_contiguous():
            by, at = event.name, event.site
            for tensor in given:
                before = self.of(tensor)
                if before is not None and before.strided_by:
                    by, at = before.strided_by, before.strided_site
                    break
        key, known = id(result), self._known

        def forget(_: Any) -> None:
            known.pop(key, None)

        known[key] = (weakref.ref(result, forget), Origin(event.name, event.site, by, at))

    def _mark(self, event: Operation, result: torch.Tensor) -> None:
        node = _node(result)
        if node is not None and event.site is not None:
            place = self.run.sites[event.site]
            node.metadata.setdefault(KEY, (place.path, place.line, event.name))


def _node(tensor: torch.Tensor) -> Any:
    try:
        return tensor.grad_fn
    except RuntimeError:  # a view made under no_grad whose base was changed in place outside of it
        return None
