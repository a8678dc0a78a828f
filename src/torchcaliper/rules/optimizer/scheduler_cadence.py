"""O106: a schedule that counts something else than the calls it gets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torchcaliper.findings import Evidence, Finding, Location, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run, Scheduler

#: a horizon equals the optimizer's steps to this share: loaders round, last batches are dropped
_STEPS_TOLERANCE = 0.1
#: a horizon equals a count of batches to this share: nearer, since batches and steps are both near it
_BATCHES_TOLERANCE = 0.02
#: a schedule that got less than this share of the calls it was made for has hardly begun
_MOST_OF_IT_MISSING = 0.25
#: rises of a cosine that was made to fall once
_MIN_TURNS = 3
#: steps of a run below which a learning rate near zero is no loss worth telling
_MIN_STEPS = 20
#: the learning rate is near zero for good after this share of the steps: with the epochs known from a loader, and
#: with epochs known only from evaluations in between
_TINY_AFTER, _TINY_AFTER_WEAK = 0.5, 0.25
#: steps per call of a schedule that is stepped with every batch (a few calls may be left out)
_PER_BATCH = 1.5
#: schedulers that go up and down, or down at their own time, on purpose
_FREE = ("ReduceLROnPlateau", "CyclicLR", "CosineAnnealingWarmRestarts")


class SchedulerCadence(Rule):
    """A schedule in epochs is stepped per batch, or the reverse.

    ## What it finds
    The calls of `scheduler.step()` are counted and held against the schedule's own horizon (`T_max`, `total_steps`,
    `step_size`, `milestones`, `gamma`) and the optimizer's steps, at the end of a run:

    * the horizon is the number of optimizer steps, and the scheduler is called once per epoch;
    * the horizon is the number of batches, and the scheduler is called once per accumulated step;
    * a cosine made to fall once goes up and down many times, as it is called with every batch;
    * the learning rate is below a ten-thousandth of its peak for most of the training, as a decay meant for epochs is
      applied with every batch.

    ## Why it matters
    The first kinds train at the start of the schedule only (for OneCycleLR: at its small warm-up rate), the others
    with a rate that jumps, or with none.

    ## Faulty
    ```python
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for x, y in loader:
            ...
            optimizer.step()
            scheduler.step()
    ```

    ## Sound
    ```python
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for x, y in loader:
            ...
            optimizer.step()
        scheduler.step()
    ```

    ## When it is silent
    Schedules in batches that are stepped per batch; OneCycleLR per optimizer step under accumulation; warm restarts,
    cyclic schedules and ReduceLROnPlateau; short runs of a long schedule; resumed schedules; runs that did not reach
    their own end.

    ## References
    * [How to adjust learning rate](https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate)
    * [OneCycleLR](https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.OneCycleLR.html)
    * [CosineAnnealingLR](https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.CosineAnnealingLR.html)
    """

    code = "O106"
    name = "scheduler-cadence"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        if not run.complete:
            return
        for index, scheduler in enumerate(run.protocol.schedulers):
            if scheduler.started_at or scheduler.calls < 2 or not scheduler.optimizer_steps or scheduler.name in _FREE:
                continue
            for judge in (self._called_too_seldom, self._counts_batches, self._goes_up_and_down, self._ends_early):
                finding = judge(run, index, scheduler)
                if finding is not None:
                    yield finding
                    break

    def _called_too_seldom(self, run: Run, index: int, scheduler: Scheduler) -> Finding | None:
        horizon, calls, steps = _horizon(scheduler), scheduler.calls, scheduler.optimizer_steps
        if horizon is None or calls > _MOST_OF_IT_MISSING * horizon or calls > _MOST_OF_IT_MISSING * steps:
            return None
        if abs(horizon - steps) > _STEPS_TOLERANCE * steps:
            return None
        return self._tell(
            run,
            index,
            scheduler,
            "{name} is made for {horizon} calls, as many as the optimizer makes steps ({steps}), and was called "
            "{count} times: the learning rate got through {share} of its course.",
            "call scheduler.step() after every optimizer.step(), or make it for the number of epochs",
            share=f"{calls / horizon:.0%}",
            horizon=horizon,
        )

    def _counts_batches(self, run: Run, index: int, scheduler: Scheduler) -> Finding | None:
        horizon, calls, steps, batches = (
            _horizon(scheduler),
            scheduler.calls,
            scheduler.optimizer_steps,
            scheduler.backwards,
        )
        if horizon is None or batches < 2 * steps or abs(calls - steps) > _BATCHES_TOLERANCE * steps:
            return None
        if steps < _MIN_STEPS or abs(horizon - batches) > _BATCHES_TOLERANCE * batches:
            return None
        return self._tell(
            run,
            index,
            scheduler,
            "{name} is made for {horizon} calls, the number of batches ({batches}), and was called {count} times, once "
            "per accumulated step: the learning rate got through {share} of its course.",
            "divide the schedule's horizon by the number of accumulated batches",
            share=f"{calls / horizon:.0%}",
            horizon=horizon,
            batches=batches,
        )

    def _goes_up_and_down(self, run: Run, index: int, scheduler: Scheduler) -> Finding | None:
        horizon = scheduler.settings.get("T_max")
        if horizon is None or scheduler.turns < _MIN_TURNS or not _is_per_batch(scheduler):
            return None
        epochs, known = _epochs(run)
        per_epoch = scheduler.optimizer_steps / epochs if epochs else 0.0
        if not (horizon <= per_epoch / 2 and (known or abs(horizon - epochs) <= 1)):
            return None
        return self._tell(
            run,
            index,
            scheduler,
            "{name}(T_max={horizon}) is stepped with every batch ({count} calls in {epochs} epochs): the learning rate "
            "went up again {turns} times, within every epoch.",
            "move scheduler.step() out of the batch loop, or give T_max in batches: epochs * len(loader)",
            horizon=horizon,
            epochs=epochs,
            turns=scheduler.turns,
        )

    def _ends_early(self, run: Run, index: int, scheduler: Scheduler) -> Finding | None:
        at, steps = scheduler.lr_tiny_at, scheduler.optimizer_steps
        epochs, known = _epochs(run)
        if at is None or steps < _MIN_STEPS or epochs < 2 or not _is_per_batch(scheduler):
            return None
        settings, per_epoch = scheduler.settings, steps / epochs
        reach = max([settings.get("step_size", 0), settings.get("total_iters", 0), *settings.get("milestones", [])])
        if at > (_TINY_AFTER if known else _TINY_AFTER_WEAK) * steps or reach > per_epoch:
            return None
        return self._tell(
            run,
            index,
            scheduler,
            "{name} is stepped with every batch: after {step} of {steps} steps ({epochs} epochs) the learning rate is "
            "below a ten-thousandth of its peak ({last} after {peak}), and nothing is learnt any more.",
            "move scheduler.step() out of the batch loop, or give the schedule in batches",
            at_step=at,
            epochs=epochs,
            last=f"{scheduler.lr_last:.2g}",
            peak=f"{scheduler.lr_peak:.2g}",
        )

    def _tell(
        self,
        run: Run,
        index: int,
        scheduler: Scheduler,
        message: str,
        fix: str,
        at_step: int | None = None,
        **values: Any,
    ) -> Finding:
        place: Location | None = run.at(scheduler.step_site)
        facts: list[Evidence] = [
            evidence(
                "the schedule is made here ({settings})",
                run.at(scheduler.site),
                settings=", ".join(f"{k}={v}" for k, v in scheduler.settings.items()) or "no horizon",
            ),
            evidence(
                "{calls} calls and {steps} optimizer steps",
                place,
                calls=scheduler.calls,
                steps=scheduler.optimizer_steps,
            ),
        ]
        return self.finding(
            message,
            at=place,
            evidence=facts,
            fix=fix,
            count=scheduler.calls,
            first_step=at_step or 0,
            subjects=(f"scheduler:{index}", f"site:{scheduler.step_site}"),
            name=scheduler.name,
            steps=scheduler.optimizer_steps,
            step=at_step,
            **values,
        )


def _horizon(scheduler: Scheduler) -> int | None:
    """The number of calls a schedule is made for, where it says so."""
    if "T_0" in scheduler.settings:
        return None
    value = scheduler.settings.get("T_max", scheduler.settings.get("total_steps"))
    return int(value) if isinstance(value, int | float) and value > 1 else None


def _is_per_batch(scheduler: Scheduler) -> bool:
    return scheduler.optimizer_steps <= _PER_BATCH * scheduler.calls


def _epochs(run: Run) -> tuple[int, bool]:
    """How many epochs the run had, and whether a loader counted them (else: stretches between evaluations)."""
    protocol = run.protocol
    counted = max([loader.training_epochs for loader in protocol.loaders], default=0)
    if counted >= 1:
        return counted, True
    return max(protocol.mode_blocks, protocol.evaluation_blocks), False
