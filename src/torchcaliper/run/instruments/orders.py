"""The order of calls between two steps of one optimizer, and how often each order occurred."""

from __future__ import annotations

from torchcaliper.run.record import Call, Pattern

#: (kind, site, flags) of one call
CallKey = tuple[str, int | None, tuple[str, ...]]

#: orders kept per optimizer
_PATTERNS = 256
#: calls kept between two steps; a program that never steps must not grow the record
_OPEN_CALLS = 64
#: longest block of calls that is kept once when it repeats: (scale, backward, clip, ...) of gradient accumulation
_BLOCK = 8


class Orders:
    """The open calls, and the patterns they made up to now."""

    __slots__ = ("_new", "_optimizer", "_patterns", "_times", "calls")

    def __init__(self, optimizer: int) -> None:
        self._optimizer = optimizer
        self.calls: list[CallKey] = []
        self._times: list[int] = []
        self._patterns: dict[tuple[CallKey, ...], Pattern] = {}
        self._new: list[Pattern] = []

    def enter(self, kind: str, site: int | None, *flags: str) -> None:
        """Add a call to the open ones; a repetition of the last call, or of the last few, is kept once."""
        key = (kind, site, flags)
        calls, times = self.calls, self._times
        if calls and calls[-1] == key:
            times[-1] += 1
            return
        calls.append(key)
        times.append(1)
        length = len(calls)
        for size in range(2, min(_BLOCK, length // 2) + 1):
            if calls[-1 - size] == key and calls[-size:] == calls[-2 * size : -size]:
                for i in range(size):
                    times[-2 * size + i] += times[-size + i]
                del calls[-size:], times[-size:]
                return
        if length > _OPEN_CALLS:
            del calls[0], times[0]

    def close(self, site: int | None, flags: tuple[str, ...], step: int) -> None:
        """The optimizer has stepped: the open calls and the step are one pattern."""
        calls = self.calls
        calls.append(("step", site, flags))
        self._times.append(1)
        key = tuple(calls)
        pattern = self._patterns.get(key)
        if pattern is not None:
            pattern.count += 1
            pattern.last_step = step
        elif len(self._patterns) < _PATTERNS:
            pattern = self._patterns[key] = Pattern(self._optimizer, self.open_calls(), 1, step, step)
            self._new.append(pattern)
        self.drop()

    def drop(self) -> None:
        """Forget the open calls."""
        self.calls.clear()
        self._times.clear()

    def open_calls(self) -> list[Call]:
        """The calls since the last step."""
        return [Call(k, s, list(f), t) for (k, s, f), t in zip(self.calls, self._times, strict=True)]

    def new_patterns(self) -> list[Pattern]:
        """The orders seen for the first time since the last call of this method."""
        new, self._new = self._new, []
        return new
