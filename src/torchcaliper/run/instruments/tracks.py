"""What happens to the gradients of one optimizer, followed through a few of its parameters.

A gradient's identity and version counter tell, without reading a value and so without waiting for a device, whether it
was made, added to, cleared or changed by hand since the last look.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch

from torchcaliper.run.record import Call, Pattern

if TYPE_CHECKING:
    from torch.optim import Optimizer

#: (kind, site, flags) of one call
CallKey = tuple[str, int | None, tuple[str, ...]]

#: parameters followed at first, and at most (one is added when a backward reached only others)
_SAMPLES, _MOST_SAMPLES = 3, 16
#: orders of calls kept per optimizer
_PATTERNS = 256
#: calls kept between two steps; a program that never steps must not grow the record
_OPEN_CALLS = 64
#: longest block of calls that is kept once when it repeats: (scale, backward, clip, ...) of gradient accumulation
_BLOCK = 8
#: backward passes scanned in full because a step came without a gradient known to be new
_FORCED_SCANS = 64
#: backward passes scanned in full to explain one that reached none of those followed
_SCANS = 8
#: elements of a gradient that are compared
_ELEMENTS = 64
#: largest gradient that is searched for non-zero values
_SEARCHED = 1_000_000


class Sample:
    """A parameter whose gradient is followed. `identity` is 0 while it has none."""

    __slots__ = ("adding", "identity", "reference", "used", "version")

    def __init__(self, parameter: torch.Tensor) -> None:
        self.reference = weakref.ref(parameter)
        gradient = parameter.grad
        self.identity = 0 if gradient is None else id(gradient)
        self.version = 0 if gradient is None else gradient._version
        self.used = False  # a step has used this gradient and it has not been cleared since
        self.adding = False  # a backward added to a used gradient

    def gradient(self) -> torch.Tensor | None:
        parameter = self.reference()
        return None if parameter is None else parameter.grad


class Track:
    """An optimizer's protocol: the state of its gradients, the calls since its last step and the orders seen."""

    def __init__(self, index: int, optimizer: Optimizer) -> None:
        self.index = index
        self.reference = weakref.ref(optimizer)
        self.steps = 0
        self.samples: list[Sample] = []
        self.reached = False  # new gradients since the last step or clearing
        self.ever_reached = False
        self.touched = False  # gradients were changed by hand since the last backward
        self.clipped = False  # a clip changed them since the last look
        self.pending: int | None = None  # site of a backward whose gradients no step has used
        self.has_pending = False
        self.scaler_pending = False  # scaler.step() since the last update()
        self.plain_step = True  # the last step did not come from a GradScaler
        self.backwards = 0
        # calls and their orders
        self.calls: list[CallKey] = []
        self.times: list[int] = []
        self.patterns: dict[tuple[CallKey, ...], Pattern] = {}
        # scanning all parameters
        self._misses = 0
        self._scans_left = _FORCED_SCANS  # until the first gradients are seen
        self._unsure = False
        self._forced = 0
        self._before: list[tuple[int, int]] | None = None
        # looks at values
        self._zero_looks = 0
        self._zero_by_value = False
        self._probe: torch.Tensor | None = None
        self._probe_of: weakref.ref[torch.Tensor] | None = None
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

    # calls

    def enter(self, kind: str, site: int | None, *flags: str) -> None:
        """Add a call to the open ones; a repetition of the last call, or of the last few, is kept once."""
        key = (kind, site, flags)
        calls, times = self.calls, self.times
        if calls and calls[-1] == key:
            times[-1] += 1
            return
        calls.append(key)
        times.append(1)
        for size in range(2, min(_BLOCK, len(calls) // 2) + 1):
            if calls[-size:] == calls[-2 * size : -size]:
                for i in range(size):
                    times[-2 * size + i] += times[-size + i]
                del calls[-size:], times[-size:]
                break
        if len(calls) > _OPEN_CALLS:
            del calls[0], times[0]

    def close(self, site: int | None, flags: tuple[str, ...], step: int) -> None:
        """The optimizer has stepped: the open calls and the step are one pattern."""
        self.calls.append(("step", site, flags))
        self.times.append(1)
        key = tuple(self.calls)
        pattern = self.patterns.get(key)
        if pattern is not None:
            pattern.count += 1
            pattern.last_step = step
        elif len(self.patterns) < _PATTERNS:
            calls = [Call(k, s, list(f), t) for (k, s, f), t in zip(self.calls, self.times, strict=True)]
            self.patterns[key] = Pattern(self.index, calls, 1, step, step)
        self.calls.clear()
        self.times.clear()

    def open_calls(self) -> list[Call]:
        """The calls since the last step."""
        return [Call(k, s, list(f), t) for (k, s, f), t in zip(self.calls, self.times, strict=True)]

    # by hand

    def notice(self, before: str, *, ours: bool = False) -> None:
        """Take in what happened to the gradients since the last look.

        `before` is the call that comes now; `ours` says that changes in place are the work of a watched call.
        """
        present = cleared = new = changed = 0
        for sample in self.samples:
            gradient = sample.gradient()
            if gradient is None:
                if sample.identity:
                    present += 1
                    cleared += 1
                    sample.identity = 0
                sample.used = sample.adding = False
                continue
            identity, version = id(gradient), gradient._version
            if sample.identity:
                present += 1
            if identity != sample.identity:
                new += 1
                sample.used = sample.adding = False
            elif version != sample.version:
                changed += 1
                if before == "backward" and not (ours or self.clipped):
                    sample.used = sample.adding = False
            sample.identity, sample.version = identity, version
        if cleared:
            whole = "cleared" if cleared == present else "partly"
            self.enter("zero_grad", None, whole, "by_hand")
            if cleared == present:
                self.forget_gradients()
        if new:
            self.enter("backward", None, "by_hand")
            self.reached = self.ever_reached = True
        elif changed and not (ours or self.clipped):
            if before == "backward":
                if not self.reached:
                    self.enter("zero_grad", None, "cleared", "in_place", "by_hand")
            elif self.reached:
                self.touched = True
            else:
                self.enter("backward", None, "by_hand")
                self.reached = self.ever_reached = True
        self.clipped = False

    def absorb(self) -> tuple[int, int, bool]:
        """Take in the work of a watched call: (gradients before, of them cleared or changed, changed in place)."""
        present = gone = 0
        in_place = False
        for sample in self.samples:
            if not sample.identity:
                gradient = sample.gradient()
                if gradient is not None:
                    sample.identity, sample.version = id(gradient), gradient._version
                continue
            present += 1
            gradient = sample.gradient()
            if gradient is None:
                sample.identity = 0
                gone += 1
            elif gradient._version != sample.version or id(gradient) != sample.identity:
                sample.identity, sample.version = id(gradient), gradient._version
                gone += 1
                in_place = True
        return present, gone, in_place

    def forget_gradients(self) -> None:
        """The gradients have been cleared."""
        self.reached = self.touched = self.clipped = False
        self.has_pending = False
        for sample in self.samples:
            sample.used = sample.adding = False

    # backward

    def backward_begins(self) -> None:
        """Remember the gradients before a backward, and see whether they were cleared by hand."""
        self.notice("backward")
        if any(sample.used for sample in self.samples) and self._zero_in_secret():
            self.enter("zero_grad", None, "cleared", "in_place", "by_hand")
            self.forget_gradients()
        self._before = [_state(p.grad) for p in self.parameters()] if self._scans_left > 0 else None

    def backward_ends(self) -> bool:
        """Whether the backward reached the optimizer's parameters."""
        before, self._before = self._before, None
        reached = False
        for sample in self.samples:
            gradient = sample.gradient()
            if gradient is None:
                sample.identity = 0
                continue
            identity, version = id(gradient), gradient._version
            if identity != sample.identity or version != sample.version:
                reached = True
                if sample.used and sample.identity:
                    sample.adding = True
                sample.identity, sample.version = identity, version
        if before is not None:
            self._scans_left -= 1
            found = self._scan(before)
            if not reached:  # a true miss, or others than those followed: either way it is known now
                reached = bool(found)
                self._add_samples(found)
                if self.samples:
                    self._scans_left = 0
        elif not reached:
            self._unsure = True
            self._misses += 1
            if self._misses & (self._misses - 1) == 0:
                self._scans_left = _SCANS
        if reached:
            self.reached = self.ever_reached = True
            self.touched = False
            self.backwards += 1
        return reached

    def _scan(self, before: list[tuple[int, int]]) -> list[torch.Tensor]:
        parameters = list(self.parameters())
        if len(parameters) != len(before):
            return []
        return [p for p, old in zip(parameters, before, strict=True) if p.grad is not None and _state(p.grad) != old]

    def _add_samples(self, found: list[torch.Tensor]) -> None:
        if not found:
            return
        room = min(_MOST_SAMPLES - len(self.samples), 1 if self.samples else _SAMPLES)
        if room <= 0:
            return
        places = {0, len(found) // 2, len(found) - 1} if room > 1 else {0}
        self.samples.extend(Sample(found[i]) for i in sorted(places)[:room])

    # step

    def has_gradient(self) -> bool:
        """Whether any parameter has a gradient; follows some of those that have one when none is followed yet."""
        if any(sample.gradient() is not None for sample in self.samples):
            return True
        found = [p for p in self.parameters() if p.grad is not None]
        if found and not self.samples:
            self._add_samples(found)
        return bool(found)

    def is_stale(self) -> bool:
        """Whether the gradients are surely those of the last step: nothing made, added to or changed any."""
        if self.reached or self.steps == 0 or not self.samples:
            return False
        if self._unsure:
            if self._forced < _FORCED_SCANS:
                self._forced += 1
                self._scans_left = max(self._scans_left, _SCANS)
            return False
        return self._same_values_as_last_step()

    def _same_values_as_last_step(self) -> bool:
        """Values decide now and then: `p.grad.data.copy_(...)` leaves no other trace."""
        self._stale_looks += 1
        kept, self._stale_values = self._stale_values, None
        if kept is not None:
            now = self._values()
            self._stale = len(now) == len(kept) and all(_equal(a, b) for a, b in zip(now, kept, strict=True))
        return self._stale

    def _values(self) -> list[torch.Tensor]:
        return [v for s in self.samples if (g := s.gradient()) is not None and (v := _excerpt(g)) is not None]

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
        return any(sample.adding for sample in self.samples)

    def stepped(self) -> None:
        """The step is over: its gradients are used."""
        for sample in self.samples:
            gradient = sample.gradient()
            if gradient is None:
                sample.identity, sample.used = 0, False
            else:
                sample.identity, sample.version, sample.used = id(gradient), gradient._version, True
            sample.adding = False
        look = self._stale_looks
        if not self.reached and self.samples and (look < 4 or look & (look - 1) == 0):
            self._stale_values = self._values()
        self.reached = self.touched = self.clipped = False
        self.has_pending = False
        self._unsure = False
        self.probe_result = ""
        self._probe = None

    # values, on suspicion

    def _zero_in_secret(self) -> bool:
        """Whether all used gradients are zero: `p.grad.data.zero_()` leaves no other trace."""
        self._zero_looks += 1
        look = self._zero_looks
        used = [g for s in self.samples if s.used and (g := s.gradient()) is not None]
        fast = all(g.device.type == "cpu" for g in used)
        if look <= (4 if fast else 2) or (look & (look - 1) == 0 and (fast or look >= 64)):
            self._zero_by_value = all(_is_zero(g) for g in used)
        return self._zero_by_value

    def probe(self) -> None:
        """Keep an excerpt of a gradient, to see later whether it was changed by hand."""
        if self._probes >= 8 or not self.samples:
            return
        gradient = self.samples[0].gradient()
        if gradient is not None:
            self._probes += 1
            self._probe = _excerpt(gradient)
            self._probe_of = self.samples[0].reference
            self.probe_result = ""

    def compare_probe(self) -> None:
        """Compare the excerpt with the gradient of now; the first comparison counts."""
        probe, self._probe = self._probe, None
        if probe is None or self._probe_of is None:
            return
        parameter = self._probe_of()
        gradient = None if parameter is None else parameter.grad
        now = None if gradient is None else _excerpt(gradient)
        if now is not None:
            self.probe_result = "same" if _equal(now, probe) else "different"


def _state(gradient: torch.Tensor | None) -> tuple[int, int]:
    return (0, 0) if gradient is None else (id(gradient), gradient._version)


def _local(tensor: torch.Tensor) -> torch.Tensor | None:
    """The plain dense tensor of this process; None where there is none."""
    to_local = getattr(tensor, "to_local", None)
    plain: Any = to_local() if to_local is not None else tensor
    if type(plain) is not torch.Tensor or plain.layout is not torch.strided or plain.is_meta or plain.numel() == 0:
        return None
    return plain


def _excerpt(gradient: torch.Tensor) -> torch.Tensor | None:
    plain = _local(gradient)
    if plain is None:
        return None
    with torch.no_grad():
        return plain.detach().reshape(-1)[:_ELEMENTS].clone()


def _equal(first: torch.Tensor, second: torch.Tensor) -> bool:
    return first.shape == second.shape and first.dtype == second.dtype and torch.equal(first, second)


def _is_zero(gradient: torch.Tensor) -> bool:
    """Gradients that cannot be looked at count as zero: nothing is said of them."""
    plain = _local(gradient)
    if plain is None:
        return True
    with torch.no_grad():
        flat = plain.detach().reshape(-1)
        return not bool(torch.count_nonzero(flat[: min(flat.numel(), _SEARCHED)]).item())
