"""O107: a scheduler that is never stepped."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.graphs import pieces
from torchcaliper.source.steps import is_scheduler_object, steps_of
from torchcaliper.source.trace import Event, Reading
from torchcaliper.source.values import Object, options

#: optimizer steps in a complete run without a call of the scheduler
_MIN_STEPS = 10
#: or as few as these when they are spread over two epochs
_FEW_STEPS, _MIN_EPOCHS = 3, 2


#: what looks at a scheduler and does not move it
_PASSIVE = ("get_last_lr", "get_lr", "state_dict", "load_state_dict", "print_lr")


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

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            if not (trace.complete and trace.is_program):
                continue
            steps = list(steps_of(trace))
            used = [e for e in trace.events if e.name not in ("set", *_PASSIVE)]
            for made in trace.named("make"):
                scheduler = made.result
                if not isinstance(scheduler, Object) or not is_scheduler_object(scheduler) or scheduler.escaped:
                    continue
                optimizer = next(iter(options(scheduler.arguments.get("optimizer", 0))), None)
                moved = [s for s in steps if s.optimizer is optimizer and s.loop is not None]
                # Anything that is done with it may step it: a list of schedulers, SequentialLR, a trainer.
                if not moved or any(e is not made and _has(e, scheduler) for e in used):
                    continue
                others = [r for e in trace.named("step") for r in options(e.receiver)]
                if any(is_scheduler_object(r) or not isinstance(r, Object) for r in others):
                    continue  # replaced by another one, or stepped as something that is not known
                yield self.finding(
                    "{name} is built and never stepped: the learning rate stays what it is.",
                    at=made.location,
                    evidence=[evidence("its optimizer steps here", moved[0].event.location)],
                    fix="call scheduler.step() after optimizer.step() (per batch or per epoch, as the schedule "
                    "counts), or remove the scheduler",
                    name=scheduler.type_name.rpartition(".")[2],
                )


def _has(event: Event, scheduler: Object) -> bool:
    """Whether something is done with the scheduler itself."""
    given = event.arguments.all()
    return any(option is scheduler for option in options(event.receiver)) or any(
        id(scheduler) in pieces(argument) for argument in given
    )
