"""What happens to the gradients of one optimizer, followed through a few of its parameters.

A gradient's identity and version counter tell, without reading a value and so without waiting for a device, whether it
was made, added to, cleared or changed by hand since the last look.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from torchcaliper.run.instruments.excerpts import excerpt, is_zero, same
from torchcaliper.run.instruments.orders import Orders

if TYPE_CHECKING:
    from torch.optim import Optimizer

#: identity and version of a gradient; None: there is no gradient
State = tuple[int, int] | None

#: parameters followed at first, and at most (one is added when a backward reached only others)
_SAMPLES, _MOST_SAMPLES = 2, 16
#: backward passes scanned in full because a step came without a gradient known to be new
_FORCED_SCANS = 64
#: backward passes scanned in full to explain one that reached none of those followed
_SCANS = 8
#: gradients of a scaled loss that are compared with those at a plain step
_PROBES = 8


def _state(gradient: torch.Tensor | None) -> State:
    return None if gradient is None else (id(gradient), gradient._version)


class Track:
    """An optimizer's gradients, as far as they are known, and the calls since its last step."""

    def __init__(self, index: int, optimizer: Optimizer, died: Callable[[Any], None]) -> None:
        self.index = index
        self.reference = weakref.ref(optimizer, died)
        self.orders = Orders(index)
        self.steps = 0
        self.followed = 0  # steps whose order of calls was followed
        self.is_followed = True  # everything since its last step is known
        self.backwards = 0
        self.reached = False  # new gradients since the last step or clearing
        self.touched = False  # gradients were changed by hand since the last backward
        self.pending: int | None = None  # site of a backward whose gradients no step has used
        self.has_pending = False
        self.scaler_pending = False  # scaler.step() since the last update()
        self.plain_step = True  # the last step did not come from a GradScaler
        # the parameters followed: reference, gradient at the last look, used by a step since it was cleared, added to
        # although used
        self._followed: list[weakref.ref[torch.Tensor]] = []
        self._states: list[State] = []
        self._used: list[bool] = []
        self._adding: list[bool] = []
        self._clipped = False  # a clip is changing gradients in place
        # scanning all parameters
        self._misses = 0
        self._scans_left = _FORCED_SCANS  # until the first gradients are seen
        self._unsure = False
        self._forced = 0
        self._before: list[State] | None = None
        # looks at values
        self._zero_looks = 0
        self._zero_by_value = False
        self._probe: torch.Tensor | None = None
        self._probes = 0
        self.probe_result = ""
        self._stale_values: list[torch.Tensor] | None = None
        self._stale_looks = 0
        self._stale = False
        self._parameter_versions: list[tuple[weakref.ref[torch.Tensor], int]] | None = None

    def parameters(self) -> Iterator[torch.Tensor]:
        """All parameters of the optimizer, while it lives."""
        optimizer = self.reference()
        if optimizer is not None:
            for group in optimizer.param_groups:
                yield from group["params"]

    def _gradients(self) -> list[torch.Tensor | None]:
        return [None if (p := r()) is None else p.grad for r in self._followed]

    def _now(self) -> list[State]:
        return [None if (p := r()) is None or (g := p.grad) is None else (id(g), g._version) for r in self._followed]

    def all_backwards(self) -> int:
        """Backward passes that reached it; estimated for the steps that were left out."""
        return (
            self.backwards
            if self.followed == self.steps
            else round(self.backwards / max(self.followed, 1) * self.steps)
        )

    def resume(self, has_stepped: bool) -> None:
        """Follow again, after steps were left out. `has_stepped`: just now, so that all that comes is known."""
        self.orders.drop()
        self.stepped()
        self.is_followed = has_stepped
        if not has_stepped:
            self._used = [False] * len(self._used)

    def has_scaled_gradients(self) -> bool:
        """Whether a scaled loss was sent backward since the last step."""
        return any(kind == "backward" and "scaled" in flags for kind, _, flags in self.orders.calls)

    # by hand

    def notice(self, before: str) -> None:
        """Take in what the program itself did to the gradients since the last look; `before` is the call that comes."""
        now, states = self._now(), self._states
        clipped, self._clipped = self._clipped, False
        if now == states:
            return
        self._states = now
        present = len(states) - states.count(None)
        cleared = new = changed = 0
        for i, (old, state) in enumerate(zip(states, now, strict=True)):
            if old == state:
                continue
            in_place = old is not None and state is not None and old[0] == state[0]
            if state is None:
                cleared += 1
            elif in_place:
                changed += 1
            else:
                new += 1
            if not in_place or (before == "backward" and not clipped):
                self._used[i] = self._adding[i] = False
        if cleared:
            self.orders.enter("zero_grad", None, "cleared" if cleared == present else "partly", "by_hand")
            if cleared == present:
                self.forget_gradients()
        if new:
            self._given_by_hand()
        elif changed and not clipped:
            if before != "backward":
                if self.reached:
                    self.touched = True
                else:
                    self._given_by_hand()
            elif not self.reached:
                self.orders.enter("zero_grad", None, "cleared", "in_place", "by_hand")

    def _given_by_hand(self) -> None:
        self.orders.enter("backward", None, "by_hand")
        self.reached = True

    def absorb(self) -> None:
        """Take in what a watched call did to the gradients in place."""
        self._states = self._now()
        self._clipped = False

    def clip_begins(self) -> None:
        """A watched clip is going to change the gradients in place."""
        self._clipped = True

    def cleared(self) -> tuple[str, ...]:
        """What a call of zero_grad() that has just returned did here, as flags; () when it did nothing."""
        now, states = self._now(), self._states
        if now == states:
            return ()
        self._states = now
        present = len(states) - states.count(None)
        gone = in_place = 0
        for old, state in zip(states, now, strict=True):
            if old is not None and old != state:
                gone += 1
                in_place += state is not None
        if not gone:
            return ()
        flags = ("cleared" if gone == present else "partly",)
        return (*flags, "in_place") if in_place else flags

    def forget_gradients(self) -> None:
        """The gradients have been cleared."""
        self.reached = self.touched = self.has_pending = False
        self._used = [False] * len(self._used)
        self._adding = [False] * len(self._adding)

    # backward

    def backward_begins(self) -> None:
        """Remember the gradients before a backward, and see whether they were cleared by hand."""
        self.notice("backward")
        if True in self._used and self._zero_in_secret():
            self.orders.enter("zero_grad", None, "cleared", "in_place", "by_hand")
            self.forget_gradients()
        self._before = [_state(p.grad) for p in self.parameters()] if self._scans_left > 0 else None

    def backward_ends(self) -> bool:
        """Whether the backward reached the optimizer's parameters."""
        now, states = self._now(), self._states
        reached = False
        if now != states:
            self._states = now
            for i, (old, state) in enumerate(zip(states, now, strict=True)):
                if state is not None and old != state:
                    reached = True
                    if old is not None and self._used[i]:
                        self._adding[i] = True
        before, self._before = self._before, None
        if before is not None:
            self._scans_left -= 1
            found = self._scan(before)
            if not reached:  # a true miss, or others than those followed: either way it is known now
                reached = bool(found)
                self._follow(found)
                if self._followed:
                    self._scans_left = 0
        elif not reached:
            self._unsure = True
            self._misses += 1
            if self._misses & (self._misses - 1) == 0:
                self._scans_left = _SCANS
        if reached:
            self.reached = True
            self.touched = False
            self.backwards += 1
        return reached

    def arrived(self) -> None:
        """A gradient has just arrived, as the optimizer steps from within a backward."""
        self.reached = True

    def _scan(self, before: list[State]) -> list[torch.Tensor]:
        parameters = list(self.parameters())
        if len(parameters) != len(before):
            return []
        return [p for p, old in zip(parameters, before, strict=True) if p.grad is not None and _state(p.grad) != old]

    def _follow(self, found: list[torch.Tensor]) -> None:
        """Follow some of the parameters that have got a gradient."""
        if not found or len(self._followed) >= _MOST_SAMPLES:
            return
        places = (0,) if self._followed or len(found) == 1 else (0, len(found) - 1)
        for i in places[:_SAMPLES]:
            self._followed.append(weakref.ref(found[i]))
            self._states.append(_state(found[i].grad))
            self._used.append(False)
            self._adding.append(False)

    # step

    def has_gradient(self) -> bool:
        """Whether any parameter has a gradient; follows some of those that have one when none is followed yet."""
        if self._states.count(None) < len(self._states):
            return True
        found = [p for p in self.parameters() if p.grad is not None]
        if found and not self._followed:
            self._follow(found)
        return bool(found)

    def is_stale(self) -> bool:
        """Whether the gradients are surely those of the last step: nothing made, added to or changed any."""
        if self.reached or self.steps == 0 or not self._followed:
            return False
        if self._unsure:
            if self._forced < _FORCED_SCANS:
                self._forced += 1
                self._scans_left = max(self._scans_left, _SCANS)
            return False
        # Values decide now and then: `p.grad.data.copy_(...)` leaves no other trace.
        self._stale_looks += 1
        kept, self._stale_values = self._stale_values, None
        if kept is not None:
            now = self._excerpts()
            self._stale = len(now) == len(kept) and all(same(a, b) for a, b in zip(now, kept, strict=True))
        return self._stale

    def _excerpts(self) -> list[torch.Tensor]:
        return [v for g in self._gradients() if g is not None and (v := excerpt(g)) is not None]

    def remember_parameters(self) -> None:
        """Note a few parameters' versions, to see whether a step without gradients moves them."""
        self._parameter_versions = [
            (weakref.ref(p), p._version) for p, _ in zip(self.parameters(), range(4), strict=False)
        ]

    def parameters_moved(self) -> bool:
        """Whether one of the parameters noted has changed."""
        noted, self._parameter_versions = self._parameter_versions, None
        return noted is not None and any(p._version != version for r, version in noted if (p := r()) is not None)

    def accumulated(self) -> bool:
        """Whether a backward added to gradients that an earlier step had used."""
        return True in self._adding

    def stepped(self) -> None:
        """The step is over: its gradients are used."""
        states = self._states = self._now()
        self._used = [state is not None for state in states]
        if True in self._adding:
            self._adding = [False] * len(states)
        if not self.reached and states:
            look = self._stale_looks
            if look < 4 or look & (look - 1) == 0:
                self._stale_values = self._excerpts()
        self.reached = self.touched = self.has_pending = self._unsure = False
        self.probe_result = ""
        self._probe = None

    # values, on suspicion

    def _zero_in_secret(self) -> bool:
        """Whether all used gradients are zero: `p.grad.data.zero_()` leaves no other trace."""
        self._zero_looks += 1
        look = self._zero_looks
        used = [g for g, used in zip(self._gradients(), self._used, strict=True) if used and g is not None]
        fast = all(g.device.type == "cpu" for g in used)
        if look <= (4 if fast else 2) or (look & (look - 1) == 0 and (fast or look >= 64)):
            self._zero_by_value = all(is_zero(g) for g in used)
        return self._zero_by_value

    def probe(self) -> None:
        """Keep an excerpt of a gradient, to see later whether it was changed by hand."""
        if self._probes >= _PROBES or not self._followed:
            return
        gradient = self._gradients()[0]
        if gradient is not None:
            self._probes += 1
            self._probe = excerpt(gradient)
            self.probe_result = ""

    def compare_probe(self) -> None:
        """Compare the excerpt with the gradient of now; the first comparison counts."""
        probe, self._probe = self._probe, None
        if probe is None:
            return
        gradient = self._gradients()[0]
        now = None if gradient is None else excerpt(gradient)
        if now is not None:
            self.probe_result = "same" if same(now, probe) else "different"
