"""Dropout that stays random while its module is in evaluation mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

from torchcaliper.run.events import DropoutCall, Forward
from torchcaliper.run.instrument import Instrument
from torchcaliper.run.record import RandomInEvaluation

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


class Dropout(Instrument):
    """Keeps `run.modes.random`."""

    name = "dropout"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._seen: dict[tuple[str, int | None], RandomInEvaluation] = {}

    def on_dropout(self, event: DropoutCall) -> None:
        module = event.module
        if module is None or module.training:
            return
        self._note(event.function, event.site, type(module).__name__, event.p, event.explicit, event.has_training)

    def on_forward_end(self, event: Forward) -> None:
        if event.training or not event.built:
            return
        for module, site in event.built:
            if isinstance(module, nn.modules.dropout._DropoutNd) and module.training and module.p > 0:
                self._note(f"nn.{type(module).__name__}", site, type(event.root).__name__, module.p, False, False)

    def _note(self, function: str, site: int | None, module: str, p: float, explicit: bool, has_training: bool) -> None:
        seen = self._seen.get((function, site))
        if seen is None:
            seen = self._seen[function, site] = RandomInEvaluation(
                function, site, module, p, explicit, first_step=self.run.steps, mode_given=has_training
            )
            self.run.modes.random.append(seen)
            self.session.judge_soon()
        seen.times += 1
