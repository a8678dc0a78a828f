"""Whether an optimizer's parameters move at all: a few values of a few parameters, before and many steps later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torchcaliper.run.events import Backward, OptimizerMade
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.instruments.samples import Sample

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

#: parameters sampled per optimizer, evenly spread over them
_PARAMETERS = 8
#: backward passes within which a new optimizer's parameters must get a gradient to be sampled
_TRIES = 64


class Movement(Instrument):
    """Samples of each optimizer's parameters, compared at powers of two of the backward passes."""

    name = "movement"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._new: dict[int, int] = {}  # optimizer -> backward passes waited for a gradient
        self._samples: dict[int, tuple[list[Sample], int, int]] = {}  # optimizer -> samples, its steps, backward then
        self._backwards = 0

    def on_optimizer_made(self, event: OptimizerMade) -> None:
        self._new[self.session.objects.optimizer(event.optimizer)] = 0

    def on_backward_end(self, event: Backward) -> None:
        self._backwards += 1
        if self._new:
            self._sample_new()
        if self._samples and self._backwards & (self._backwards - 1) == 0:
            self._compare()

    def _sample_new(self) -> None:
        for number in list(self._new):
            optimizer = self.session.objects.optimizer_object(number)
            self._new[number] += 1
            if optimizer is None or self._new[number] > _TRIES:
                del self._new[number]
                continue
            chosen = _with_gradient(optimizer)
            if chosen:
                del self._new[number]
                steps = self.run.ledger.optimizers[number].steps
                self._samples[number] = ([Sample(p) for p in chosen], steps, self._backwards)

    def _compare(self) -> None:
        for number, (samples, steps, backward) in list(self._samples.items()):
            record = self.run.ledger.optimizers[number]
            if self._backwards - backward < _PARAMETERS:
                continue
            seen = [s for sample in samples if (s := sample.look()) is not None]
            if not seen:
                if not any(s.alive for s in samples):
                    del self._samples[number]
                continue
            record.compared = len(seen)
            record.unmoved = sum(not moved for moved, _ in seen)
            record.gradient_seen = any(gradient for _, gradient in seen)
            record.compared_steps = record.steps - steps
            if record.unmoved < record.compared:
                del self._samples[number]


def _with_gradient(optimizer: Any) -> list[Any]:
    parameters = [p for g in optimizer.param_groups for p in g["params"] if p.is_leaf and p.grad is not None]
    every = max(1, len(parameters) // _PARAMETERS)
    return parameters[::every][:_PARAMETERS]
