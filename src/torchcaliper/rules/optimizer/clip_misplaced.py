"""O108: gradient clipping that changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Call, Pattern, Run
from torchcaliper.source.graphs import depends_on
from torchcaliper.source.steps import (
    Held,
    Step,
    backwards,
    clears,
    held_by,
    held_by_optimizer,
    inside,
    is_hooked,
    is_optimizer_object,
    loss_of,
    steps_of,
    whenever,
)
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Object, Symbol, constant

#: fewer may be a look at the gradients outside of the loop
_MIN_TIMES = 3
#: share of the optimizer's steps: the loop's order, not an exception in it
_MIN_SHARE = 0.5
#: calls with nothing to clip, before parameters of no optimizer are told: layers may be thawed later
_MIN_STRAY = 10


#: limits from here on ask for the norm only
_VAST = 1000


class ClipMisplaced(Rule):
    """Gradients are clipped where it has no effect.

    ## What it finds
    `clip_grad_norm_` or `clip_grad_value_` is called after the step (the gradients have been used), before the backward
    (there is nothing to clip), or on parameters that no optimizer holds and that have no gradients (another network, a
    generator of parameters that is used up). Under gradient accumulation, clipping after every batch's backward is told
    too, when norms exceed the limit: the partial sums are scaled down again and again.

    ## Why it matters
    The steps use unclipped gradients: one outlier can throw the weights far away, which clipping was there to prevent.

    ## Faulty
    ```python
    loss.backward()
    optimizer.step()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    ```

    ## Sound
    ```python
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    ```

    ## When it is silent
    A call that only measures the norm (the limit is infinite, or a million and more); another clip follows the
    backward; a limit under accumulation that is never reached; clipping of a part of the parameters; clipping of
    weights (WGAN); fewer than three such calls.

    ## References
    * [clip_grad_norm_](https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html)
    """

    code = "O108"
    name = "clip-misplaced"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for optimizer, patterns in run.protocol.by_optimizer().items():
            bad = [(p, clip) for p in patterns if (clip := _idle_clip(p)) is not None]
            count, total = sum(p.count for p, _ in bad), sum(p.count for p in patterns)
            if count < _MIN_TIMES or count < _MIN_SHARE * total:
                continue
            pattern, clip = max(bad, key=lambda pair: pair[0].count)
            backward = pattern.calls[pattern.places("backward")[-1]]
            if _is_after_step(pattern, clip):
                message = "Gradients are clipped after step(), when they have been used"
                told = "the step before used the gradients unclipped"
            else:
                message = "Gradients are clipped before backward(), when there is nothing to clip"
                told = "this step uses the gradients unclipped"
            yield self.finding(
                message + ": {count} of the {total} steps of {name} looked at were not clipped.",
                at=run.at(clip.site),
                evidence=(
                    evidence("the gradients come from here", run.at(backward.site)),
                    evidence(told, run.at(pattern.step.site)),
                ),
                fix="move the clipping between backward() and step()",
                count=count,
                first_step=min(p.first_step for p, _ in bad),
                subjects=(f"optimizer:{optimizer}", f"site:{clip.site}"),
                total=total,
                name=run.ledger.optimizers[optimizer].name,
            )
        yield from self._strays(run)
        yield from self._partial(run)

    def _partial(self, run: Run) -> Iterator[Finding]:
        for partial in run.protocol.partial_clips:
            optimizer = run.ledger.optimizers[partial.optimizer]
            total = sum(p.count for p in run.protocol.patterns if p.optimizer == partial.optimizer)
            if partial.steps < _MIN_TIMES or partial.steps < _MIN_SHARE * total:
                continue
            if partial.exceeded < _MIN_TIMES:
                continue
            yield self.finding(
                "Gradients are clipped after every backward() of an accumulated step: the first batches are scaled "
                "down again and again, in {count} steps of {name}.",
                at=run.at(partial.site),
                evidence=(
                    evidence(
                        "each backward adds to gradients that were clipped already", run.at(partial.backward_site)
                    ),
                    evidence(
                        "the norm exceeded the limit of {limit:g} in {exceeded} of the {looks} calls looked at",
                        run.at(partial.site),
                        limit=partial.limit,
                        exceeded=partial.exceeded,
                        looks=partial.looks,
                    ),
                ),
                fix="clip once, after the last backward() and before step()",
                count=partial.steps,
                first_step=partial.first_step,
                subjects=(f"optimizer:{partial.optimizer}", f"site:{partial.site}"),
                name=optimizer.name,
            )

    def _strays(self, run: Run) -> Iterator[Finding]:
        if not run.protocol.patterns:
            return  # nothing steps: the program may apply the gradients by hand
        for stray in run.protocol.stray_clips:
            if stray.no_gradient < stray.times or stray.times < _MIN_STRAY:
                continue
            what = (
                "{parameters} tensors that no optimizer holds and that have no gradients"
                if stray.parameters
                else "an empty list of parameters (a generator such as model.parameters() can be used only once)"
            )
            yield self.finding(
                "Clipping is given " + what + ": nothing was clipped, {count} times.",
                at=run.at(stray.site),
                fix="clip the parameters of the model that is trained: clip_grad_norm_(model.parameters(), ...)",
                count=stray.times,
                first_step=stray.first_step,
                subjects=(f"site:{stray.site}",),
                parameters=stray.parameters,
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            if not trace.complete or is_hooked(trace):
                continue
            told: set[int] = set()
            for clip in trace.named("clip_grad_norm_", "clip_grad_value_"):
                held = held_by(clip.arguments.get("parameters", 0))
                if not clip.full.startswith("torch.") or not held.known or id(clip.node) in told or _is_vast(clip):
                    continue
                for finding in _misplaced(self, trace, clip, held):
                    told.add(id(clip.node))
                    yield finding


def _idle_clip(pattern: Pattern) -> Call | None:
    """The clip of a step that is not clipped: every clip stands before the first backward."""
    clips, backwards = pattern.places("clip"), pattern.places("backward")
    if not clips or not backwards or clips[-1] > backwards[0]:
        return None
    clip = pattern.calls[clips[-1]]
    return None if clip.has("unlimited") else clip


def _is_after_step(pattern: Pattern, clip: Call) -> bool:
    cleared = any(c.kind == "zero_grad" for c in pattern.calls[: pattern.calls.index(clip)])
    return not (cleared or clip.has("no_gradient"))


def _misplaced(rule: ClipMisplaced, trace: Trace, clip: Event, held: Held) -> Iterator[Finding]:
    stepping = [s for s in steps_of(trace) if s.loop is not None and s.loop is clip.context.loop]
    given = clip.arguments.get("parameters", 0)
    if any(
        isinstance(given, Symbol) and given.op == "parameters" and s.optimizer.arguments.get("params", 0) is given
        for s in stepping
    ):
        yield rule.finding(
            "The generator of parameters that is clipped here was used up when the optimizer was made: nothing is "
            "limited.",
            at=clip.location,
            evidence=[evidence("the generator", given.place.location if given is not None and given.place else None)],
            fix="parameters = list(model.parameters())",
        )
        return
    others = [held_by_optimizer(s.optimizer) for s in stepping]
    if others and all(h.known and not h.overlaps(held) for h in others) and not _is_trained(trace, held):
        yield rule.finding(
            "Gradients of a network are clipped that no optimizer holds: nothing is limited.",
            at=clip.location,
            evidence=[evidence("the step that is not limited", stepping[0].event.location)],
            fix="clip the parameters that the optimizer holds",
        )
        return
    steps = [s for s in steps_of(trace) if held_by_optimizer(s.optimizer).overlaps(held)]
    own = [b for b in backwards(trace) if depends_on(loss_of(b), held.parts)]
    for step in steps:
        loop = step.loop
        if loop is None or not inside(clip, loop) or not own:
            continue
        if clip.context.loop is loop:
            yield from _out_of_order(rule, step, clip, [b for b in own if b.context.loop is loop], steps, trace)
        elif clip.context.loop is not None and clip.context.loop.parent is loop:
            yield from _of_partial_sums(rule, step, clip, own, trace)
        return


def _is_trained(trace: Trace, held: Held) -> bool:
    """Whether any optimizer of the program holds these parameters."""
    made = [event.result for event in trace.named("make")]
    return any(isinstance(o, Object) and is_optimizer_object(o) and held_by_optimizer(o).overlaps(held) for o in made)


def _is_vast(clip: Event) -> bool:
    """Whether the limit is one that no gradient reaches: only the norm is asked for."""
    value = constant(clip.arguments.get("max_norm", 1) or clip.arguments.get("clip_value", 1))
    return isinstance(value, int | float) and value >= _VAST


def _out_of_order(
    rule: ClipMisplaced, step: Step, clip: Event, own: list[Event], steps: list[Step], trace: Trace
) -> Iterator[Finding]:
    at = step.event
    before = [b for b in own if b.index < at.index]
    clips = [c for c in trace.named(clip.name) if c.context.loop is step.loop]
    if not before or any(before[-1].index < c.index < at.index for c in clips):
        return
    if clip.index > at.index and len(steps) == 1 and not any(b.index > at.index for b in own):
        message, other = "Gradients are clipped after the step that uses them: nothing is limited.", at
    elif clip.index < before[0].index and _is_cleared(trace, clip, at):
        message, other = "Gradients are clipped before backward() computes them: nothing is limited.", before[0]
    else:
        return
    if whenever(at, clip) or whenever(clip, at):
        yield rule.finding(
            message,
            at=clip.location,
            evidence=[evidence("the step" if other is at else "the backward", other.location)],
            fix="move the clipping between backward() and step()",
        )


def _is_cleared(trace: Trace, clip: Event, at: Event) -> bool:
    """Whether gradients are cleared in each turn, so that there is nothing to clip before backward."""
    return any(
        clears(event) is not None and event.context.loop is clip.context.loop
        for event in trace.events
        if event.index < clip.index or event.index > at.index
    )


def _of_partial_sums(rule: ClipMisplaced, step: Step, clip: Event, own: list[Event], trace: Trace) -> Iterator[Finding]:
    inner = clip.context.loop
    there = [b for b in own if b.context.loop is inner and b.index < clip.index]
    if not there or any(inside(s.event, inner) for s in steps_of(trace) if inner is not None):
        return
    if clip.context.condition is not None or any(
        event.context.loop is inner and (clears(event) is not None or event.name == "grad" or event.attribute == "grad")
        for event in trace.events
    ):
        return  # the last batch only, or gradients of single samples that are gathered by hand
    yield rule.finding(
        "Gradients are clipped after every backward() of an accumulated step: the first batches are scaled down again "
        "and again.",
        at=clip.location,
        evidence=[
            evidence("each backward adds to gradients that were clipped already", there[-1].location),
            evidence("the step", step.event.location),
        ],
        fix="clip once, after the last backward() and before step()",
    )
