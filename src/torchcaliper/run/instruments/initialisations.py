"""Which functions of torch.nn.init the program called on which parameter, and how many tensors each such line sets."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import torch

from torchcaliper.run.events import Initialised
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.record import Initialisation

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: parameters kept in the record: more of them say nothing new
_KEPT = 32


class Initialisations(Instrument):
    """Parameters initialised more than once."""

    name = "initialisations"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._calls: dict[int, tuple[weakref.ref[torch.Tensor], list[tuple[str, int | None]]]] = {}
        self._breadth: dict[int | None, set[int]] = {}
        self._new = False

    def on_initialised(self, event: Initialised) -> None:
        key = id(event.tensor)
        entry = self._calls.get(key)
        if entry is None or entry[0]() is not event.tensor:
            entry = self._calls[key] = (weakref.ref(event.tensor), [])
        call = (event.function, event.site)
        if not entry[1] or entry[1][-1] != call:
            entry[1].append(call)
        self._breadth.setdefault(event.site, set()).add(key)
        self._new = True

    def refresh(self) -> None:
        if not self._new:
            return
        self._new = False
        objects, found = self.session.objects, []
        for reference, calls in self._calls.values():
            tensor = reference()
            if tensor is None or len({f for f, _ in calls}) < 2 or len({s for _, s in calls}) < 2:
                continue
            index = objects.known_parameter(tensor)
            if index is None:
                self._new = True  # its network has not been called yet
                continue
            breadth = [len(self._breadth[s]) for _, s in calls]
            name = self.run.ledger.parameters[index].name
            found.append(Initialisation(name, [f for f, _ in calls], [s for _, s in calls], breadth))
            if len(found) >= _KEPT:
                break
        self.run.ledger.initialisations[:] = found
