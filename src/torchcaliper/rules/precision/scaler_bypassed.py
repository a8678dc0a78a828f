"""P104: the loss is scaled and the step is not the scaler's, or the reverse."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Pattern, Run
from torchcaliper.source.graphs import depends_on, reach
from torchcaliper.source.steps import Step, backwards, held_by_optimizer, inside, is_scaler_object, loss_of, steps_of
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Object, Value, constant

#: a habit of the loop
_MIN_STEPS = 3


class ScalerBypassed(Rule):
    """A scaled loss with a plain `optimizer.step()`, or an unscaled loss with `scaler.step()`.

    ## What it finds
    * the backward starts from `scaler.scale(loss)`, and `optimizer.step()` is called directly: nobody divides the
      gradients by the scale;
    * the backward starts from the loss itself, and `scaler.step(optimizer)` divides its gradients by a scale they
      never had.

    ## Why it matters
    The gradients are wrong by the scale (65536 at first). SGD diverges at once or stands still. Adam hides it, as it
    divides by the gradients' size: then clipping, `eps`, weight decay in the gradient and every change of the scale
    act wrongly, and an overflow goes straight into the weights.

    ## Faulty
    ```python
    scaler.scale(loss).backward()
    optimizer.step()
    scaler.update()
    ```

    ## Sound
    ```python
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    ```

    ## When it is silent
    `scaler.unscale_(optimizer)` was called, or the gradients were changed by hand, before the plain step; the loss was
    multiplied by `scaler.get_scale()` by hand; disabled scalers and a scale of 1; fewer than three such steps.

    ## References
    * [Typical mixed precision training](https://docs.pytorch.org/docs/stable/notes/amp_examples.html#typical-mixed-precision-training)
    """

    code = "P104"
    name = "scaler-bypassed"
    severity = Severity.ERROR
    explains = ("O111", "P102", "P105", "A110", "A111")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for optimizer, patterns in run.protocol.by_optimizer().items():
            name, total = run.ledger.optimizers[optimizer].name, sum(p.count for p in patterns)
            plain = [p for p in patterns if _is_plain_step_of_scaled(p)]
            count = sum(p.count for p in plain)
            if count >= _MIN_STEPS and any(p.step.has("untouched") for p in plain):
                most = max(plain, key=lambda p: p.count)
                yield self.finding(
                    "optimizer.step() applies gradients that still carry the loss scale: {count} of the "
                    "{total} steps of {name} looked at bypassed the scaler.",
                    at=run.at(most.step.site),
                    evidence=(
                        evidence("the gradients of a scaled loss", run.at(_backward(most))),
                        evidence("compared with those after backward: nothing divided them by the scale"),
                    ),
                    fix="scaler.step(optimizer) in place of optimizer.step()",
                    count=count,
                    first_step=min(p.first_step for p in plain),
                    subjects=(f"optimizer:{optimizer}", f"site:{most.step.site}"),
                    name=name,
                    total=total,
                )
            unscaled = [p for p in patterns if _is_scaler_step_of_unscaled(p)]
            count = sum(p.count for p in unscaled)
            if count >= _MIN_STEPS:
                most = max(unscaled, key=lambda p: p.count)
                yield self.finding(
                    "scaler.step() divides gradients by a scale they never had: in {count} of the {total} steps of "
                    "{name} looked at the loss was not scaled.",
                    at=run.at(_backward(most)),
                    evidence=(evidence("this step divides them by the scale", run.at(most.step.site)),),
                    fix="scaler.scale(loss).backward()",
                    count=count,
                    first_step=min(p.first_step for p in unscaled),
                    subjects=(f"optimizer:{optimizer}", f"site:{most.step.site}"),
                    name=name,
                    total=total,
                )
        for index, scaler in enumerate(run.protocol.scalers):
            if scaler.unused_site is not None:
                yield self.finding(
                    "The scaler is to step, but no loss was ever scaled by it: torch refuses the call.",
                    at=run.at(scaler.unused_site),
                    evidence=(evidence("the scaler is made here", run.at(scaler.site)),),
                    fix="scaler.scale(loss).backward()",
                    subjects=(f"scaler:{index}", f"site:{scaler.unused_site}"),
                )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            if not trace.complete:
                continue
            told: set[int] = set()
            for step in steps_of(trace):
                if id(step.event.node) in told or step.loop is None:
                    continue
                for finding in self._of_step(trace, step):
                    told.add(id(step.event.node))
                    yield finding

    def _of_step(self, trace: Trace, step: Step) -> Iterator[Finding]:
        held = held_by_optimizer(step.optimizer)
        loop = step.loop
        if not held.known or loop is None:
            return
        before = [
            b
            for b in backwards(trace)
            if b.context.loop is loop
            and b.index < step.event.index
            and (found := reach(loss_of(b))).layers & held.parts
            and not found.unknown
        ]
        same = [b for b in before if _same_branch(b, step.event)]
        if not same:
            return
        scalers = {id(e.result) for e in trace.named("make") if is_scaler_object(e.result) and _may_scale(e.result)}
        scaled = [b for b in same if depends_on(loss_of(b), scalers)]
        if step.scaler is None and len(scaled) == len(same):
            if any(inside(e, loop) for e in trace.named("unscale_")) or _divides_by_hand(trace, step):
                return
            yield self.finding(
                "optimizer.step() applies gradients that still carry the loss scale: it bypasses the scaler.",
                at=step.event.location,
                evidence=[evidence("the loss is scaled here", scaled[-1].location)],
                fix="scaler.step(optimizer) in place of optimizer.step()",
            )
        elif step.scaler is not None and not scaled and constant(step.scaler.arguments.get("enabled")) is not False:
            never = not any(True for _ in trace.named("scale"))
            yield self.finding(
                "scaler.step() divides gradients by a scale they never had: the loss is not scaled.",
                at=(step.event if never else same[-1]).location,
                evidence=[evidence("the backward of a loss without a scale", same[-1].location)],
                fix="scaler.scale(loss).backward()",
            )


def _backward(pattern: Pattern) -> int | None:
    return pattern.calls[pattern.places("backward")[-1]].site


def _is_plain_step_of_scaled(pattern: Pattern) -> bool:
    """The last backward before a plain step is scaled, and nothing unscales its gradients."""
    if pattern.step.has("scaler", "unscaled", "no_gradient", "stale"):
        return False
    scaled = False
    for call in pattern.calls:
        if call.kind == "backward":
            scaled = call.has("scaled")
        elif call.kind in ("unscale", "scaler_step") or (call.kind == "zero_grad" and call.has("cleared")):
            scaled = False
    return scaled


def _is_scaler_step_of_unscaled(pattern: Pattern) -> bool:
    backwards = [pattern.calls[i] for i in pattern.places("backward")]
    if not pattern.step.has("scaler") or not backwards:
        return False
    return not any(call.has("scaled", "maybe_scaled", "by_hand") for call in backwards)


def _may_scale(scaler: Value) -> bool:
    return isinstance(scaler, Object) and constant(scaler.arguments.get("enabled")) is not False


def _same_branch(one: Event, other: Event) -> bool:
    """Whether both happen in the same turn, as far as branches decide."""
    taken = {id(c.place.node): c.taken for c in one.context.conditions()}
    return {id(c.place.node): c.taken for c in other.context.conditions()} == taken


def _divides_by_hand(trace: Trace, step: Step) -> bool:
    """Whether gradients are unscaled by hand."""
    return any(
        e.attribute == "grad" or e.name == "grad"
        for e in trace.events
        if step.loop is not None and inside(e, step.loop)
    )
