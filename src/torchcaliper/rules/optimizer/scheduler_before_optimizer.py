"""O105: the scheduler steps before the optimizer."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run, Scheduler
from torchcaliper.source.steps import is_scheduler_object, steps_of, whenever
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Object, options

#: calls after which an order is a habit
_MIN_CALLS = 3


class SchedulerBeforeOptimizer(Rule):
    """`scheduler.step()` comes before `optimizer.step()`.

    ## What it finds
    A learning rate scheduler is stepped before its optimizer has made its first step, from the same line that steps it
    ever after: each step, or each epoch, begins with `scheduler.step()`.

    ## Why it matters
    The first value of the schedule is never used, and every later value comes one step too early: a warm-up loses its
    start, a milestone is off by one epoch. Since PyTorch 1.1.0 the optimizer goes first.

    ## Faulty
    ```python
    for epoch in range(epochs):
        scheduler.step()
        train_one_epoch(model, optimizer)
    ```

    ## Sound
    ```python
    for epoch in range(epochs):
        train_one_epoch(model, optimizer)
        scheduler.step()
    ```

    ## When it is silent
    A resumed schedule that is wound forward before training; a first step that a GradScaler skipped; schedulers inside
    another scheduler; runs that did not reach their own end.

    ## References
    * [How to adjust learning rate](https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate)
    """

    code = "O105"
    name = "scheduler-before-optimizer"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        if not run.complete:
            return
        for index, scheduler in enumerate(run.protocol.schedulers):
            if not _is_early(scheduler):
                continue
            rate = f"{scheduler.lr_first:.3g}" if scheduler.lr_first is not None else "the first"
            yield self.finding(
                "{name} is stepped before its optimizer, {count} times: the first learning rate ({rate}) is skipped "
                "and every later one comes one step early.",
                at=run.at(scheduler.step_site),
                evidence=(
                    evidence("made here; its first call came before any optimizer step", run.at(scheduler.site)),
                    evidence(
                        "{steps} optimizer steps followed the last call",
                        run.at(scheduler.step_site),
                        steps=scheduler.steps_since_call,
                    ),
                ),
                fix="move scheduler.step() behind optimizer.step() (behind the epoch's loop for a schedule in epochs)",
                count=scheduler.calls,
                first_step=0,
                subjects=(f"scheduler:{index}", f"optimizer:{scheduler.optimizer}", f"site:{scheduler.step_site}"),
                name=scheduler.name,
                rate=rate,
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            if not trace.complete:
                continue
            steps = list(steps_of(trace))
            told: set[int] = set()
            for event in trace.named("step"):
                for scheduler in options(event.receiver):
                    if not isinstance(scheduler, Object) or not is_scheduler_object(scheduler):
                        continue
                    optimizer = next(iter(options(scheduler.arguments.get("optimizer", 0))), None)
                    own = [s for s in steps if s.optimizer is optimizer]
                    loop = event.context.loop
                    first = min((s.event.index for s in own), default=None)
                    if first is None or first < event.index or loop is None or id(scheduler) in told:
                        continue
                    if event.arguments.positional or event.arguments.keywords:
                        continue  # a given epoch or a metric: another kind of schedule
                    following = [
                        s for s in own if any(lp is loop for lp in s.event.context.loops()) and whenever(event, s.event)
                    ]
                    if not following:
                        continue
                    told.add(id(scheduler))
                    yield self.finding(
                        "{name} is stepped before its optimizer: the first learning rate is skipped and every later "
                        "one comes one step early.",
                        at=event.location,
                        evidence=[evidence("the optimizer's step", following[0].event.location)],
                        fix="move scheduler.step() behind optimizer.step() (behind the epoch's loop for a schedule in "
                        "epochs)",
                        name=scheduler.type_name.rpartition(".")[2],
                    )


def _is_early(scheduler: Scheduler) -> bool:
    """The order is scheduler, optimizer from the first call to the last: winding forward has a line of its own."""
    return (
        scheduler.owned_by is None
        and scheduler.calls >= _MIN_CALLS
        and scheduler.calls_before_first_step == 1
        and scheduler.optimizer_steps_at_first_call == 0
        and scheduler.first_call_site == scheduler.step_site
        and scheduler.steps_since_call > 0
        and not scheduler.skipped_by_scaler
        and not scheduler.started_at
        and "ReduceLROnPlateau" not in scheduler.name
    )
