"""What an instrument is: it handles events and keeps its part of the record up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


class Instrument:
    """Measures; never judges.

    A subclass handles an event by defining a method of the event's name with an `on_` in front, for example
    `on_backward_end(self, event: Backward) -> None`. It runs inside the user's program: it must be quick, must not
    draw random numbers, must not synchronise a device unless it has a suspicion, and must hold the program's objects
    by weak reference only. An instrument that raises is switched off and the program goes on.
    """

    name: str

    def __init__(self, session: Session) -> None:
        self.session = session
        self.run = session.run

    def may_rest(self) -> bool:
        """Whether a stretch of steps may be left out from here on."""
        return True

    def resumed(self, optimizer: object) -> None:
        """Steps were left out until now; `optimizer` has just stepped, or None if this is amid a step."""

    def refresh(self) -> None:
        """Bring the record up to date; called before rules judge it and before it is saved."""
