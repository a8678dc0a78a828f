"""O103."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.graphs import depends_on
from torchcaliper.source.steps import (
    backwards,
    exclusive,
    held_by_optimizer,
    inside,
    is_hooked,
    is_optimizer_object,
    is_scheduler_object,
    loss_of,
    steps_of,
)
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Object, Symbol, options

#: gradients computed and thrown away this often: no rehearsal lasts so long
TIMES = 16


class StepMissing(Rule):
    """Gradients are computed again and again, and optimizer.step() is never called.

    ## What it finds
    An optimizer whose parameters get gradients from many backward passes, and that never steps; the parameters keep
    their values. Often a scheduler (or a scaler) is stepped in its place.

    ## Why it matters
    Nothing is learned; the loss only fluctuates with the batches.

    ## Faulty
    ```python
    optimizer.zero_grad()
    loss.backward()
    scheduler.step()
    ```

    ## Sound
    ```python
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    ```

    ## When it is silent
    The parameters move (manual SGD, another optimizer); no optimizer holds them (saliency, gradient penalties); an
    input of the forward requires grad; the network is in evaluation mode; the gradients were never cleared in a run
    that ended early (accumulation).

    ## References
    - https://pytorch.org/docs/stable/optim.html#taking-an-optimization-step
    - https://pytorch.org/tutorials/beginner/basics/optimization_tutorial.html
    """

    code = "O103"
    name = "step-missing"
    severity = Severity.ERROR
    explains = ("O104", "O105", "O106", "O107", "O111", "A103")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for number, optimizer in enumerate(run.ledger.optimizers):
            if (
                optimizer.steps
                or not optimizer.reached
                or not optimizer.trained_mode
                or optimizer.inputs_differentiated
            ):
                continue
            if not optimizer.compared or optimizer.unmoved < optimizer.compared:
                continue
            lost = [u for u in run.protocol.unstepped if u.optimizer == number and not u.moved]
            times = sum(u.times for u in lost)
            if times < TIMES and not (run.complete and run.backwards >= TIMES):
                continue
            backward = next((u.site for u in lost), optimizer.backward_site)
            scheduler = next((u.scheduler_site for u in lost if u.scheduler_site is not None), None)
            if scheduler is None:
                scheduler = next(
                    (s.step_site for s in run.protocol.schedulers if s.optimizer == number and s.calls >= TIMES), None
                )
            times = max(times, optimizer.reached)
            proof = [
                evidence("{optimizer} is made here and never stepped", run.at(optimizer.site), optimizer=optimizer.name)
            ]
            if scheduler is not None:
                proof.insert(0, evidence("the gradients are computed here", run.at(backward)))
                message = (
                    "the scheduler is stepped, {optimizer}.step() is not: gradients of {times:,} "
                    "backward passes moved nothing"
                )
            else:
                message = "{optimizer}.step() is never called: gradients of {times:,} backward passes moved nothing"
            yield self.finding(
                message,
                at=run.at(scheduler if scheduler is not None else backward),
                evidence=proof,
                fix="call optimizer.step() after backward()"
                + (", before scheduler.step()" if scheduler is not None else ""),
                count=times,
                first_step=0,
                subjects=(f"optimizer:{number}",),
                optimizer=optimizer.name,
                times=times,
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            yield from self._instead(trace)
            if trace.is_program and trace.complete and not is_hooked(trace):
                yield from self._never(trace)

    def _instead(self, trace: Trace) -> Iterator[Finding]:
        """The scheduler is stepped in one branch, its optimizer only in the other."""
        stepped = list(steps_of(trace))
        for scheduled, scheduler in _scheduler_steps(trace):
            optimizer = _optimizer_of(scheduler)
            own = [s for s in stepped if s.optimizer is optimizer and s.loop is scheduled.context.loop]
            if scheduled.context.loop is None or not own or not all(exclusive(scheduled, s.event) for s in own):
                continue
            if not any(inside(b, scheduled.context.loop) for b in backwards(trace)):
                continue
            yield self.finding(
                "the scheduler is stepped in this branch, the optimizer only in the other: gradients move nothing",
                at=scheduled.location,
                evidence=[evidence("the optimizer's step", own[0].event.location)],
                fix="call optimizer.step() in both branches, and scheduler.step() after it",
            )

    def _never(self, trace: Trace) -> Iterator[Finding]:
        for made in trace.events:
            optimizer = made.result
            if not is_optimizer_object(optimizer) or made.name != "make" or optimizer.escaped:
                continue
            assert isinstance(optimizer, Object)
            held = held_by_optimizer(optimizer)
            if not held.known or any(n.escaped for n in held.networks):
                continue
            own = [b for b in backwards(trace) if b.context.loop is not None and depends_on(loss_of(b), held.parts)]
            if own and not _may_be_moved(trace):
                loop = own[0].context.loop
                scheduled = next((e for e, _ in _scheduler_steps(trace) if e.context.loop is loop), None)
                yield self.finding(
                    "optimizer.step() is never called: gradients of this backward move nothing",
                    at=(scheduled or own[0]).location,
                    evidence=[evidence("the optimizer is made here and never stepped", made.location)],
                    fix="call optimizer.step() after backward()",
                )
                return


def _scheduler_steps(trace: Trace) -> Iterator[tuple[Event, Object]]:
    for event in trace.named("step"):
        for receiver in options(event.receiver):
            if isinstance(receiver, Object) and is_scheduler_object(receiver):
                yield event, receiver


def _optimizer_of(scheduler: Object) -> Object | None:
    given = scheduler.arguments.get("optimizer", 0)
    return next((o for o in options(given) if isinstance(o, Object) and is_optimizer_object(o)), None)


def _may_be_moved(trace: Trace) -> bool:
    """Whether anything may move parameters: a step of whatever, or an update by hand, which reads gradients."""
    for event in trace.events:
        if event.name in ("grad", "data", "call") or event.attribute in ("grad", "data"):
            return True
        if event.name == "step" and any(
            isinstance(r, Symbol) or not is_scheduler_object(r) for r in options(event.receiver)
        ):
            return True
        if event.context.grad is False and event.name == "update":
            return True
    return False
