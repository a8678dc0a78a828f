"""The losses that stand beside a metric: is the metric itself one, and which way does the training go?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

#: a metric is a loss when it equals one of its means to this relative difference (they are summed in another order)
_EQUAL = 1e-4


@dataclass(slots=True)
class Reading:
    """What was measured since the last metric."""

    training: float | None
    evaluation: float | None
    samples: int
    is_loss: bool


class _Values:
    """Sums of scalar losses. Values on a device are summed there and read together, once per metric."""

    __slots__ = ("count", "device_sum", "last", "samples", "total", "weighted")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.count = self.samples = 0
        self.total: Any = 0.0
        self.weighted: Any = 0.0
        self.last: Any = None

    def add(self, value: Any, samples: int) -> None:
        if type(value) is not torch.Tensor or value.numel() != 1 or value.is_meta:
            return
        number: Any = value.detach()
        number = number.item() if number.device.type == "cpu" else number.reshape(()).float()
        self.count += 1
        self.samples += samples
        self.total = self.total + number
        self.weighted = self.weighted + number * samples
        self.last = number

    def means(self) -> list[float]:
        """Mean, mean by samples, sum, last value."""
        if not self.count:
            return []
        total, weighted, last = float(self.total), float(self.weighted), float(self.last)
        values = [total / self.count, total, last]
        if self.samples:
            values += [weighted / self.samples, total / self.samples]
        return values


class LossMeter:
    """Sums the losses between two metrics of one scheduler."""

    __slots__ = ("_backward", "_evaluation", "_training", "samples")

    def __init__(self) -> None:
        self._backward, self._training, self._evaluation = _Values(), _Values(), _Values()
        self.samples = 0

    def loss(self, value: Any, args: tuple[Any, ...], grad: bool) -> None:
        """A loss function returned `value`."""
        first = args[0] if args else None
        samples = first.shape[0] if isinstance(first, torch.Tensor) and first.dim() > 0 else 1
        (self._training if grad else self._evaluation).add(value, samples)

    def backward(self, root: Any) -> None:
        """The root of a backward."""
        self._backward.add(root, 1)

    def read(self, metric: float) -> Reading:
        """What was measured since the last metric, and whether the metric equals one of the losses."""
        training = self._training.means()
        backward = self._backward.means()
        evaluation = self._evaluation.means()
        losses = [v for v in (*training, *backward, *evaluation) if v != 0.0]
        reading = Reading(
            training=next(iter(training or backward), None),
            evaluation=next(iter(evaluation), None),
            samples=self.samples,
            is_loss=any(abs(metric - v) <= _EQUAL * abs(v) for v in losses),
        )
        for values in (self._training, self._backward, self._evaluation):
            values.clear()
        self.samples = 0
        return reading
