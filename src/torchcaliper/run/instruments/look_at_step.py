"""Records the operators of one training step for `torchcaliper look`; then the program is left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from torchcaliper.looking.record import Look
from torchcaliper.looking.rows import LONGEST, row_of
from torchcaliper.run.events import Backward, Ended, Forward, Operation, Step
from torchcaliper.run.instrument import Instrument

if TYPE_CHECKING:
    from torchcaliper.run.session import Session


class LookAtStep(Instrument):
    """Tells `tell` the look at step `step`, once."""

    name = "look_at_step"

    def __init__(self, session: Session, step: int, tell: Callable[[Look], None]) -> None:
        super().__init__(session)
        self._step, self._tell = step, tell
        self._look = Look(f"step {step}", step, cwd=self.run.program.cwd)
        self._recording = self._stepping = self._told = False
        self._prepare()

    def _prepare(self) -> None:
        if self.session.step + 1 >= self._step:
            self.session.look()

    def may_rest(self) -> bool:
        return self._told

    def on_forward_begin(self, event: Forward) -> None:
        if event.grad and self.session.step >= self._step and self.session.looking and not self._told:
            self._recording = True

    def on_operation(self, event: Operation) -> None:
        if not self._recording or self._stepping or event.name.startswith("_record_function"):
            return
        if len(self._look.rows) < LONGEST:
            self._look.rows.append(row_of(event, self.run))

    def on_step_begin(self, event: Step) -> None:
        self._stepping = True

    def on_step_end(self, event: Step) -> None:
        self._stepping = False
        if event.nested:
            return
        if self._recording:
            self._done()
        elif not self._told:
            self._prepare()

    def on_backward_end(self, event: Backward) -> None:
        if self._recording and not self.run.ledger.optimizers:  # a backward is all there is to a step
            self._done()

    def _done(self) -> None:
        self._recording, self._told = False, True
        self._look.what = f"step {self.session.step}"
        self._tell(self._look)
        self.session.lift()

    def on_ended(self, event: Ended) -> None:
        if self._told:
            return
        self._told = True
        if self._recording:
            self._look.what += ", not finished"
        else:
            self._look.note = (
                f"not seen: the program made {self.run.steps} training steps"
                if self.run.steps <= self._step
                else "operators cannot be looked at where torch.compile or TorchScript is in use"
            )
        self._tell(self._look)
