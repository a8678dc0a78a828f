"""Asks, when an exception has ended the program, each kind of failure whether it can explain it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torchcaliper.run.causes import devices, forked, memory, refusal, strides
from torchcaliper.run.causes.scene import Scene, chain
from torchcaliper.run.events import Ended
from torchcaliper.run.instrument import Instrument

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_KINDS = (memory, devices, strides, refusal, forked)


class Causes(Instrument):
    """Fills `details` of the failure that ended the program."""

    name = "causes"

    def __init__(self, session: Session) -> None:
        super().__init__(session)

    def on_ended(self, event: Ended) -> None:
        if not isinstance(event.error, Exception):
            return
        failure = next((f for f in reversed(self.run.failures) if f.uncaught), None)
        if failure is None or "cause" in failure.details:
            return
        for error in chain(event.error):
            scene = Scene(self.session, error)
            for kind in _KINDS:
                found = kind.explain(scene)
                if found is not None:
                    site = scene.site(scene.user)
                    failure.details.update({"raised_site": site, "raised": scene.message[:400], **found})
                    return
