"""A104: gradients cleared between backward and step."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Call, Pattern, Run
from torchcaliper.source.graphs import depends_on
from torchcaliper.source.steps import backwards, clears, held_by, held_by_optimizer, loss_of, steps_of, whenever
from torchcaliper.source.trace import Event, Loop, Reading

#: fewer may be a batch that is thrown away on purpose
_MIN_STEPS = 3
#: the loop's order, not an exception in it
_MIN_SHARE = 0.5


class GradientsClearedBeforeStep(Rule):
    """`zero_grad()` stands between `backward()` and `step()`.

    ## What it finds
    The gradients that a backward has just computed are cleared before the optimizer steps, so the step has nothing to
    apply.

    ## Why it matters
    The network does not learn: the loss stays where it started, without any error. (Weight decay may still shrink the
    weights when the gradients are set to zero instead of None.)

    ## Faulty
    ```python
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    ```

    ## Sound
    ```python
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ```

    ## When it is silent
    Another backward follows the clearing before the step (a first backward whose gradients were only looked at, or
    another network's loss); only some of the gradients are cleared on purpose (`last_layer.weight.grad = None`); fewer
    than three such steps, or fewer than half of the optimizer's.

    ## References
    * [Optimizer.zero_grad](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html)
    * [Taking an optimization step](https://docs.pytorch.org/docs/stable/optim.html#taking-an-optimization-step)
    """

    code = "A104"
    name = "gradients-cleared-before-step"
    severity = Severity.ERROR
    explains = ("O104", "O103", "O111", "M104", "O108")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for optimizer, patterns in run.protocol.by_optimizer().items():
            bad = [(p, clear) for p in patterns if (clear := _cleared(p)) is not None]
            count, total = sum(p.count for p, _ in bad), sum(p.count for p in patterns)
            if count < _MIN_STEPS or count < _MIN_SHARE * total:
                continue
            pattern, clear = max(bad, key=lambda pair: pair[0].count)
            backward = pattern.calls[pattern.places("backward")[-1]]
            site = clear.site if clear.site is not None else pattern.step.site
            yield self.finding(
                "Gradients are cleared after backward() and before step(): {count} of the {total} steps of {name} "
                "looked at had nothing to apply.",
                at=run.at(site),
                evidence=(
                    evidence("the gradients are computed here", run.at(backward.site)),
                    evidence("and this step finds none of them", run.at(pattern.step.site)),
                ),
                fix="move zero_grad() before backward(), or after step()",
                count=count,
                first_step=min(p.first_step for p, _ in bad),
                subjects=(f"optimizer:{optimizer}", f"site:{site}"),
                total=total,
                name=run.ledger.optimizers[optimizer].name,
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            for step in steps_of(trace):
                held = held_by_optimizer(step.optimizer)
                at = step.event.index
                own = [b for b in backwards(trace) if b.index < at and b.context.loop is step.loop]
                if not own or not held.known or not depends_on(loss_of(own[-1]), held.parts):
                    continue
                between = trace.events[own[-1].index + 1 : at]
                if any(e.name in ("grad", "call") or (e.attribute == "grad" and not _empties(e)) for e in between):
                    continue  # gradients were kept, or changed by hand
                for event in between:
                    cleared = clears(event)
                    if (
                        cleared is None
                        or not cleared.known
                        or not (event.context.loop is step.loop or _each_parameter(event, step.loop))
                        or not whenever(event, step.event)
                        or not held.parts <= cleared.parts
                        or id(event.node) in told
                    ):
                        continue
                    told.add(id(event.node))
                    yield self.finding(
                        "Gradients are cleared after backward() and before step(): the step has nothing to apply.",
                        at=event.location,
                        evidence=[
                            evidence("the backward whose gradients are lost", own[-1].location),
                            evidence("the step", step.event.location),
                        ],
                        fix="move zero_grad() before backward(), or after step()",
                    )


def _cleared(pattern: Pattern) -> Call | None:
    """The clearing after the last backward of a step that it leaves without gradients."""
    backwards = pattern.places("backward")
    if not backwards:
        return None
    for call in pattern.calls[backwards[-1] + 1 :]:
        if call.kind == "zero_grad" and call.has("cleared"):
            set_to_zero = call.has("in_place") and not call.has("by_hand")
            if set_to_zero or pattern.step.has("no_gradient"):
                return call
    return None


def _empties(event: Event) -> bool:
    cleared = clears(event)
    return cleared is not None and cleared.known


def _each_parameter(event: Event, loop: Loop | None) -> bool:
    """Whether it is done for one parameter after the other, in a loop of its own within `loop`."""
    own = event.context.loop
    return own is not None and own.parent is loop and held_by(own.over).known
