"""Leaving out stretches of quick steps, so that watching them costs little.

The first steps are all followed. After that, where steps are quick, the watch rests in most of them: calls that were
made in the same way in the stretch just followed are not told to instruments; steps are counted still. A call that is
new (another network, mode, loader or line) ends the rest at once and is told, and so a validation is always seen.
"""

from __future__ import annotations

import threading
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: steps that are all followed at first, and stretches followed and left out later
_FIRST, _FOLLOWED, _LEFT_OUT = 64, 16, 48
#: seconds; of steps that are shorter more are left out, since even a resting watch costs some per cent of them
_SHORT, _LEFT_OUT_OF_SHORT = 3e-3, 304
#: seconds; being told of all calls costs up to a millisecond (the caches are cold), which longer steps do not feel
_QUICK = 0.1
#: ways of calling in one stretch; a program that has more of them is not repetitive
_MOST = 4096

Key = tuple[object, ...]


class Rest:
    """Whether the watch rests now."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.on = False
        self._usual: set[Key] = set()
        self._turn_at = _FIRST
        self._turned = (0, perf_counter())  # step and time of the last turn
        self._thread = threading.get_ident

    def covers(self, key: Key) -> bool:
        """Whether a call made in this way is left out now. A new one ends the rest."""
        if not self.on:
            if len(self._usual) < _MOST:
                self._usual.add(key)
            return False
        if key in self._usual and self._thread() == self._session.thread:
            return True
        self.end()
        return False

    def stepped(self, optimizer: object) -> None:
        """`optimizer` has just stepped: begin or end a rest if it is time."""
        step = self._session.step
        if step < self._turn_at:
            return
        if self.on:
            self.end(optimizer)
            return
        since, begin = self._turned
        now = perf_counter()
        self._turned, self._turn_at = (step, now), step + _FOLLOWED
        each = (now - begin) / max(step - since, 1)
        if since and each < _QUICK and len(self._usual) < _MOST:
            self.on = self._session.may_rest()
        if self.on:
            self._turn_at = step + (_LEFT_OUT_OF_SHORT if each < _SHORT else _LEFT_OUT)
        else:
            self._usual.clear()

    def end(self, optimizer: object = None) -> None:
        """Follow all calls again; `optimizer` is the one that has just stepped, if the rest ends as one does."""
        self.on = False
        self._usual.clear()
        step = self._session.step
        self._turned, self._turn_at = (step, perf_counter()), step + _FOLLOWED
        self._session.resumed(optimizer)
