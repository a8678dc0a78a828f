"""O107: a scheduler that is never stepped."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: optimizer steps in a complete run without a call of the scheduler
_MIN_STEPS = 10
#: or as few as these when they are spread over two epochs
_FEW_STEPS, _MIN_EPOCHS = 3, 2


class SchedulerNeverStepped(Rule):
    """A learning rate scheduler is built and never stepped.

    ## What it finds
    A complete run in which the optimizer made its steps while the scheduler made for it was never called.

    ## Why it matters
    The learning rate stays where the scheduler's constructor left it for the whole training. After a warm-up schedule
    that is a small fraction of the rate that was asked for (OneCycleLR starts at a 25th of `max_lr`).

    ## Faulty
    ```python
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=1000)
    for x, y in loader:
        ...
        optimizer.step()
    ```

    ## Sound
    ```python
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=1000)
    for x, y in loader:
        ...
        optimizer.step()
        scheduler.step()
    ```

    ## When it is silent
    Schedulers that another scheduler steps (SequentialLR, ChainedScheduler); one that was replaced by a later one of
    the same optimizer; one whose `step()` stands under a condition that this run did not meet; short or broken runs.

    ## References
    * [How to adjust learning rate](https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate)
    """

    code = "O107"
    name = "scheduler-never-stepped"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        if not run.complete:
            return
        epochs = max([loader.training_epochs for loader in run.protocol.loaders], default=0)
        stepped = {s.optimizer for s in run.protocol.schedulers if s.calls}
        for index, scheduler in enumerate(run.protocol.schedulers):
            if scheduler.calls or scheduler.owned_by is not None or scheduler.replaced:
                continue
            if scheduler.called_conditionally or scheduler.optimizer in stepped:
                continue
            steps = scheduler.optimizer_steps
            if steps < _MIN_STEPS and not (steps >= _FEW_STEPS and epochs >= _MIN_EPOCHS):
                continue
            rate = "unknown" if scheduler.lr_first is None else f"{scheduler.lr_first:.3g}"
            yield self.finding(
                "{name} is built and never stepped: its optimizer made {steps} steps, all at the learning rate {rate}.",
                at=run.at(scheduler.site),
                evidence=(
                    evidence("the run reached its end without a call of scheduler.step()", run.at(scheduler.site)),
                ),
                fix="call scheduler.step() after optimizer.step() (per batch or per epoch, as the schedule counts), or "
                "remove the scheduler",
                subjects=(f"scheduler:{index}", f"site:{scheduler.site}"),
                name=scheduler.name,
                steps=steps,
                rate=rate,
            )
