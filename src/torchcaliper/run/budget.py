"""Which steps are looked at deeply, so that watching costs no more than the user allows.

A deep look at a step (every operator recorded, statistics of gradients, walks of the graph) costs a tenth of the step
or more. The first steps are looked at, then ever rarer ones, spaced in time; and a look must have been earned: what it
is going to cost, by those before it, may be no more than the allowed share of the time since.

A look's cost is what the step took beyond an undisturbed one: timers of our own see only about half of it, since
calls also slow down what lies around them. That much they do see, and so bound the cost from both sides.
"""

from __future__ import annotations

import statistics
from collections import deque
from time import perf_counter

#: share of the time allowed; where steps are shorter than that, the second
SHARE, SHARE_OF_QUICK, _QUICK = 0.03, 0.10, 3e-3
#: steps looked at in any case at the start, and powers of two up to the last
_FIRST, _LAST_POWER = 4, 64
#: seconds between two looks at least; the second once so many have been had
_GAP, _LATER_GAP, _EARLY_LOOKS = 0.5, 2.0, 20
#: what always-on watching costs, relative to what our own timers see of it
_UNSEEN = 2.0
#: and what a look costs at most, likewise
_MOST_UNSEEN = 3.0
#: undisturbed steps whose median is the yardstick
_YARDSTICK = 9


class Budget:
    """Decides at the beginning of a training step, and keeps the account.

    `share` is the share of the time that all watching may take before looks are left out: None for the default, 1.0 for
    a look at every step.
    """

    def __init__(self, share: float | None = None) -> None:
        self._share = share
        self.deep = False
        self.looks = 0
        self._steps = 0  # of all optimizers
        self.has_begun = False  # a training step
        self._begin = self._last_look = self._since = perf_counter()
        self._plain: deque[float] = deque(maxlen=_YARDSTICK)
        self._costs: deque[float] = deque(maxlen=5)
        self._own = 0.0  # seconds of this look by our own timers
        self._always = 0.0  # and outside of looks
        self.spent = 0.0  # seconds that looks have added

    @property
    def plain_step(self) -> float:
        """Seconds that an undisturbed step takes; 0 when none has been seen."""
        return statistics.median(self._plain) if self._plain else 0.0

    def pause(self, seconds: float) -> None:
        """Let the account stand still for a time that has just passed."""
        self._since += seconds
        self._last_look += seconds

    def took(self, seconds: float) -> bool:
        """Our own code took so long; whether that belongs to a look."""
        if self.deep:
            self._own += seconds
        else:
            self._always += seconds
        return self.deep

    def step_begins(self, asked: bool) -> bool:
        """A training step begins: whether it is looked at. `asked`: an instrument has a suspicion."""
        if not self.has_begun:
            self.has_begun, self._begin = True, perf_counter()
            self.deep = self._is_time(self._begin)
            self.looks += self.deep
        if asked and not self.deep:
            self.deep = True
            self.looks += 1
        return self.deep

    def step_ends(self) -> None:
        """The step is over."""
        self._steps += 1
        if not self.has_begun:
            return
        self.has_begun = False
        now = perf_counter()
        taken = now - self._begin
        if not self.deep:
            self._plain.append(taken)
            return
        self.deep = False
        self._last_look = now
        own, self._own = self._own, 0.0
        if self._plain:
            # By turns a program trains networks of different size, or validates in between: that is no cost of ours.
            own = min(max(taken - self.plain_step, own), _MOST_UNSEEN * own)
            self._costs.append(own)
        self.spent += own

    def _is_time(self, now: float) -> bool:
        step = self._steps
        if self._share == 1.0 or step < _FIRST or (step <= _LAST_POWER and step & (step - 1) == 0):
            return True
        if self._share == 0.0 or now - self._last_look < (_GAP if self.looks < _EARLY_LOOKS else _LATER_GAP):
            return False
        share = self._share
        if share is None:
            share = SHARE_OF_QUICK if self.plain_step < _QUICK else SHARE
        expected = statistics.median(self._costs) if self._costs else self.plain_step
        return self.spent + _UNSEEN * self._always + expected <= share * (now - self._since)
