"""Whether a loss asks a network for the next step of its own input: targets compared with inputs, value by value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

#: fewer positions than these prove nothing
_LENGTH, _POSITIONS = 4, 12
_ALIKE = 0.98
#: features of a series that are compared with a target of one feature
_FEATURES = 8


@dataclass(slots=True)
class Sequence:
    """How predictions lie in a loss: `batch` sequences of `length` steps, in rows of one sequence or of one step."""

    batch: int
    length: int  # of the targets
    time_first: bool
    input: int  # number of the input
    shift: int  # the target at a position is the input this many steps later: 1, or 0 for a copy
    steps: int  # length of the input
    channels: bool = False  # (batch, channels, time)

    def row(self, sample: int, step: int) -> int:
        """The row of a prediction in the flattened loss."""
        return step * self.batch + sample if self.time_first else sample * self.length + step


def sequence_of(prediction: torch.Tensor, target: torch.Tensor, inputs: dict[int, torch.Tensor]) -> Sequence | None:
    """Compare a loss's targets with the inputs; None when they are neither the next steps nor the same ones."""
    found = [f for number, given in inputs.items() for f in _all(prediction, target, number, given)]
    # Of several that fit: the next step rather than the same one, then an input as long as the targets, and not the
    # longer one they may both have been cut from (the source of a copying task).
    found.sort(key=lambda f: (-f.shift, f.steps != f.length))
    return found[0] if found else None


def _all(prediction: torch.Tensor, target: torch.Tensor, number: int, given: torch.Tensor) -> Iterator[Sequence]:
    if given.dim() < 2 or given.device != target.device or given.is_floating_point() != target.is_floating_point():
        return
    for time_first in (False, True):
        found = _compare(target, given.transpose(0, 1) if time_first else given, number, time_first)
        if found is not None and _fits(prediction, found, target):
            yield found
    if target.is_floating_point() and given.dim() == 3 and target.shape[:1] == given.shape[:1]:
        few = target.numel() // len(target) <= given.shape[1]
        for feature in range(min(given.shape[2], _FEATURES) if few else 0):
            found = _compare(target, given[:, :, feature], number, False)
            if found is not None and _fits(prediction, found, target):
                yield found
                break
    if target.is_floating_point() and given.dim() == 3 and target.dim() == 3 and prediction.shape == target.shape:
        found = _compare(target.transpose(1, 2), given.transpose(1, 2), number, False)
        if found is not None:
            found.channels = True
            yield found


def _compare(target: torch.Tensor, given: torch.Tensor, number: int, time_first: bool) -> Sequence | None:
    batch, steps = given.shape[:2]
    if steps < _LENGTH or batch < 1:
        return None
    features = given[0, 0].numel()
    length, rest = divmod(target.numel(), batch * features)
    if rest or length not in (steps, steps - 1):
        return None
    if target.dim() >= 2 and target.shape[:2] not in (
        torch.Size((batch * length, features)),
        torch.Size((length, batch) if time_first else (batch, length)),
    ):
        return None
    flat = target.reshape(length, batch, -1).transpose(0, 1) if time_first else target.reshape(batch, length, -1)
    values = given.reshape(batch, steps, -1)
    if _alike(flat[:, : steps - 1], values[:, 1:]):
        return Sequence(batch, length, time_first, number, 1, steps)
    if length == steps and not target.is_floating_point() and _alike(flat, values):
        return Sequence(batch, length, time_first, number, 0, steps)
    return None


def _alike(target: torch.Tensor, values: torch.Tensor) -> bool:
    if target.is_floating_point():
        same, valid = target == values, torch.ones_like(target, dtype=torch.bool)
        other = values[:, :1].expand_as(values)
    else:
        valid = target >= 0  # negative: ignored
        same = (target == values) & valid
        other = values.roll(1, 1)
    count = int(valid.sum())
    if count < _POSITIONS or int(same.sum()) < _ALIKE * count:
        return False
    # a sequence that repeats itself is its own next step
    return int(((target == other) & valid).sum()) < 0.9 * count


def _fits(prediction: torch.Tensor, found: Sequence, target: torch.Tensor) -> bool:
    if prediction.shape == target.shape:
        return True
    if prediction.dim() == 2:
        return prediction.shape[0] == found.batch * found.length
    return prediction.dim() == 3 and not found.time_first and prediction.shape[::2] == (found.batch, found.length)
