"""A103: steps that add to old gradients."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Pattern, Run
from torchcaliper.source.edits import insertion
from torchcaliper.source.graphs import depends_on
from torchcaliper.source.steps import (
    Step,
    backwards,
    clears,
    held_by_optimizer,
    inside,
    is_hooked,
    loss_of,
    repeats,
    steps_of,
)
from torchcaliper.source.trace import Event, Loop, Reading, Trace
from torchcaliper.source.values import Function

#: one such step may be a warm-up before the loop; three are a habit
_MIN_STEPS = 3
#: below this share of its steps the accumulation is the exception (a skipped batch), not the loop's order
_MIN_SHARE = 0.25


class GradientsNeverCleared(Rule):
    """Steps add to the gradients of earlier steps.

    ## What it finds
    A backward adds to gradients that an earlier step of the same optimizer has already used, and the next step uses
    the sum: `zero_grad()` is missing, is called once per epoch, is written without parentheses, or is called on
    another optimizer or module.

    ## Why it matters
    `backward()` adds to `.grad`. Without clearing, every step follows the sum of all gradients so far: the loss falls
    at first, then oscillates or grows, like a momentum of 1 that never forgets.

    ## Faulty
    ```python
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    ```

    ## Sound
    ```python
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    ```

    ## When it is silent
    Gradient accumulation (several backward calls before one step, cleared after it); several losses with a backward
    each; gradients that another network's loss left behind and that are cleared before the next own backward (GAN);
    gradients cleared by hand (`p.grad = None`, `p.grad.zero_()`); closures that clear; fewer than three such steps.

    ## References
    * [Optimizer.zero_grad](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html)
    * [Zeroing out gradients in PyTorch](https://docs.pytorch.org/tutorials/recipes/recipes/zeroing_out_gradients.html)
    """

    code = "A103"
    name = "gradients-never-cleared"
    severity = Severity.ERROR
    explains = ("A110", "A111")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for optimizer, patterns in run.protocol.by_optimizer().items():
            bad = [p for p in patterns if p.step.has("accumulated")]
            count, total = sum(p.count for p in bad), sum(p.count for p in patterns)
            if count < _MIN_STEPS or count < _MIN_SHARE * total:
                continue
            yield self._tell(run, optimizer, bad, count, total)

    def _tell(self, run: Run, optimizer: int, bad: list[Pattern], count: int, total: int) -> Finding:
        most = max(bad, key=lambda p: p.count)
        backward = next((c.site for c in most.calls if c.kind == "backward" and c.site is not None), None)
        own = [z for z in run.protocol.zero_grads if optimizer in z.cleared or z.optimizer == optimizer]
        other = [z for z in run.protocol.zero_grads if z not in own]
        name = run.ledger.optimizers[optimizer].name
        site, why, fix = backward, "it is never cleared", "optimizer.zero_grad() before each backward"
        facts: list[Evidence] = []
        if own:
            site = max(own, key=lambda z: z.times).site
            calls = sum(z.times for z in own)
            why = "zero_grad() is called {calls} times in {total} steps"
            fix = "call optimizer.zero_grad() once for every step, inside the loop"
            facts.append(
                evidence("cleared {calls} times, stepped {total} times", run.at(site), calls=calls, total=total)
            )
        elif run.protocol.uncalled_zero_grads:
            site = run.protocol.uncalled_zero_grads[0]
            why = "zero_grad is named here and not called"
            fix = "optimizer.zero_grad()  (with parentheses)"
        elif other:
            wrong = max(other, key=lambda z: z.times)
            site = wrong.site
            why = "zero_grad() is called on another object (a {owner}), whose parameters this optimizer does not hold"
            fix = "call zero_grad() on the optimizer that steps"
            facts.append(
                evidence(
                    "zero_grad() of a {owner}, {times} times: it cleared none of this optimizer's gradients",
                    run.at(wrong.site),
                    owner=wrong.owner,
                    times=wrong.times,
                )
            )
        facts.append(evidence("this backward adds to gradients that a step has used", run.at(backward)))
        facts.append(evidence("this step uses the sum", run.at(most.step.site)))
        return self.finding(
            "{count} of the {total} steps of {name} looked at add to the gradients of the steps before: " + why + ".",
            at=run.at(site if site is not None else most.step.site),
            evidence=facts,
            fix=fix,
            count=count,
            first_step=min(p.first_step for p in bad),
            subjects=(f"optimizer:{optimizer}", f"site:{site}"),
            total=total,
            name=name,
            calls=sum(z.times for z in own),
            owner=max(other, key=lambda z: z.times).owner if other else "",
        )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            for step in steps_of(trace):
                if id(step.optimizer) not in told and trace.complete and not is_hooked(trace):
                    for finding in self._of_step(trace, step):
                        told.add(id(step.optimizer))
                        yield finding

    def _of_step(self, trace: Trace, step: Step) -> Iterator[Finding]:
        held = held_by_optimizer(step.optimizer)
        if not held.known or step.optimizer.escaped or any(n.escaped for n in held.networks):
            return
        if any(not isinstance(given, Function) for given in step.event.arguments.all()) and step.scaler is None:
            return  # a closure that is not known may clear
        found = _accumulating(trace, step, held.parts)
        if found is None:
            return
        loop, backward = found
        clearing = [(event, cleared) for event in trace.events if (cleared := clears(event)) is not None]
        if any(inside(event, loop) and (not cleared.known or cleared.overlaps(held)) for event, cleared in clearing):
            return
        own = next((event for event, cleared in clearing if cleared.overlaps(held)), None)
        other = next((event for event, _ in clearing if inside(event, loop)), None)
        named = next((e for e in trace.named("mention") if e.attribute == "zero_grad" and inside(e, loop)), None)
        at = backward
        facts = [evidence("the step that uses the sum", step.event.location)]
        fix = "optimizer.zero_grad() before each backward"
        if named is not None:
            at, fix = named, "zero_grad is named here and not called: add the parentheses"
        elif other is not None:
            at = other
            facts.append(evidence("this zero_grad() clears other parameters", other.location))
        elif own is not None:
            facts.append(evidence("zero_grad() stands outside of the loop that steps", own.location))
            outer = loop.parent
            while outer is not None and own.context.loop is not outer:
                outer = outer.parent
            at = own if outer is not None else backward
            fix = "move zero_grad() into the loop that steps"
        yield self.finding(
            "Each backward adds to the gradients of the steps before: nothing clears them in this loop.",
            at=at.location,
            evidence=facts,
            fix=fix,
            edits=[insertion(named, "()")] if named is not None else (),
        )


def _accumulating(trace: Trace, step: Step, parts: set[int]) -> tuple[Loop, Event] | None:
    """The innermost loop in which gradients of an optimizer's parameters are computed and used, and where."""
    own = [b for b in backwards(trace) if depends_on(loss_of(b), parts)]
    for loop in step.event.context.loops():
        there = [b for b in own if inside(b, loop)]
        if there:
            return (loop, there[0]) if repeats(loop) else None
    return None
