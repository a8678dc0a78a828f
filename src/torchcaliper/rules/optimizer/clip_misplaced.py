"""O108: gradient clipping that changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Call, Pattern, Run

#: fewer may be a look at the gradients outside of the loop
_MIN_TIMES = 3
#: share of the optimizer's steps: the loop's order, not an exception in it
_MIN_SHARE = 0.5
#: calls with nothing to clip, before parameters of no optimizer are told: layers may be thawed later
_MIN_STRAY = 10


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
