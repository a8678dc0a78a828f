"""P102: gradients clipped while they carry the loss scale."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Call, Pattern, Run

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
