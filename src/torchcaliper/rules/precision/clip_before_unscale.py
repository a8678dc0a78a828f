"""P102: gradients clipped while they carry the loss scale."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Call, Pattern, Run
from torchcaliper.source.graphs import depends_on
from torchcaliper.source.steps import backwards, held_by, held_by_optimizer, loss_of, steps_of
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Object, Symbol, Value, constant, options

#: a habit of the loop
_MIN_STEPS = 3


class ClipBeforeUnscale(Rule):
    """Gradients are clipped while still scaled.

    ## What it finds
    Between the backward of a scaled loss and `scaler.step()` the gradients are clipped without `scaler.unscale_()`
    before it.

    ## Why it matters
    The gradients are larger than they should be by the scale (65536 at first), so a limit meant for their true norm
    cuts all of them: after unscaling, the step is about `limit / scale`, and the network hardly learns.

    ## Faulty
    ```python
    scaler.scale(loss).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    ```

    ## Sound
    ```python
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    ```

    ## When it is silent
    The limit is infinite (the norm is only measured) or multiplied by the scale; the scaler is disabled or its scale
    is 1; fewer than three such steps.

    ## References
    * [Gradient clipping](https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping)
    """

    code = "P102"
    name = "clip-before-unscale"
    severity = Severity.ERROR
    explains = ("O108", "O111")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for optimizer, patterns in run.protocol.by_optimizer().items():
            bad = [(p, clip) for p in patterns if p.step.has("scaler") and (clip := _scaled_clip(p)) is not None]
            count, total = sum(p.count for p, _ in bad), sum(p.count for p in patterns)
            if count < _MIN_STEPS:
                continue
            pattern, clip = max(bad, key=lambda pair: pair[0].count)
            scale = next((s.scale for s in run.protocol.scalers if s.scale is not None), None)
            yield self.finding(
                "Gradients are clipped while they still carry the loss scale{scale}, in {count} of the "
                "{total} steps of {name} looked at.",
                at=run.at(clip.site),
                evidence=(
                    evidence(
                        "the gradients of a scaled loss", run.at(pattern.calls[pattern.places("backward")[-1]].site)
                    ),
                    evidence("unscaled only here, after the clipping", run.at(pattern.step.site)),
                ),
                fix="scaler.unscale_(optimizer) before the clipping",
                count=count,
                first_step=min(p.first_step for p, _ in bad),
                subjects=(f"optimizer:{optimizer}", f"site:{clip.site}"),
                total=total,
                scale="" if scale is None else f" ({scale:g} when looked at)",
                name=run.ledger.optimizers[optimizer].name,
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            for step in steps_of(trace):
                scaler = step.scaler
                if scaler is None or not _may_be_enabled(scaler):
                    continue
                scaled = [b for b in backwards(trace) if _is_scaled(loss_of(b), scaler) and b.index < step.event.index]
                for clip in trace.named("clip_grad_norm_", "clip_grad_value_"):
                    between = scaled and scaled[-1].index < clip.index < step.event.index
                    if not between or clip.context.loop is not step.loop or id(clip.node) in told:
                        continue
                    held = held_by(clip.arguments.get("parameters", 0))
                    if not held.known or not held.overlaps(held_by_optimizer(step.optimizer)):
                        continue
                    if any(e.index < clip.index for e in trace.named("unscale_")):
                        continue
                    if _knows_scale(clip.arguments.get("max_norm", 1), scaler):
                        continue
                    told.add(id(clip.node))
                    yield self.finding(
                        "Gradients are clipped while they still carry the loss scale: the limit holds for numbers that "
                        "are tens of thousands of times too large.",
                        at=clip.location,
                        evidence=[evidence("the gradients of a scaled loss", scaled[-1].location)],
                        fix="scaler.unscale_(optimizer) before the clipping",
                    )


def _scaled_clip(pattern: Pattern) -> Call | None:
    scaled = False
    for call in pattern.calls:
        if call.kind == "backward":
            scaled = call.has("scaled")
        elif call.kind == "unscale" or (call.kind == "zero_grad" and call.has("cleared")):
            scaled = False
        elif call.kind == "clip" and scaled and not call.has("unlimited", "scaled_limit", "no_gradient"):
            return call
    return None


def _may_be_enabled(scaler: Object) -> bool:
    given = scaler.arguments.get("enabled")
    if isinstance(given, Symbol):
        # As good as off on a machine without the device; the user's own switch is another matter.
        return given.op != "call:is_available"
    return constant(given) is not False


def _knows_scale(limit: Value | None, scaler: Object) -> bool:
    """Whether the limit is computed from the scale, or is none: the norm is only measured."""
    return depends_on(limit, {id(scaler)}) or constant(limit) == math.inf


def _is_scaled(loss: Value | None, scaler: Object) -> bool:
    return any(isinstance(made, Symbol) and made.op == "scale" and made.by is scaler for made in options(loss))
