"""P105: a value that half precision cannot hold."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_numerics import NonFinite

#: share of updates that have no effect, and of gradients that are zero, in each of so many looks
_LOST, _UNDERFLOWN, _LOOKS = 0.95, 0.6, 5
_EXACT = {"float16": "2,048", "bfloat16": "256"}
_WIDTH = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
_LARGEST = {"float16": "65,504", "bfloat16": "3.4e38"}

#: steps with such a loss before one is told that a scaler skips: one may be an outlier
_SKIPPED = 4
_NOT_OF_PRECISION = ("input", "parameter", "no_targets", "empty", "spread", "slope")


class LowPrecisionOverflow(Rule):
    """A value is too large, or too small, for half precision.

    ## What it finds
    Under autocast or in a model turned to half precision: a constant that float16 cannot hold (`masked_fill(-1e9)`,
    for which torch raises), an operator whose float16 result is infinite (a sum, a square, `exp`, a product of large
    activations), an angle of a rotary or sinusoidal encoding that is spaced wider than it may be, an epsilon such as
    1e-8 that is zero in float16, so that a division, a logarithm or a step of Adam fails. Also gradients that become
    zero in float16 where no GradScaler is used, and updates that are too small to change half-precision parameters.

    ## Why it matters
    float16 ends at 65,504 and has nothing between 0 and 6e-8. What is beyond becomes infinity or zero, and a few
    operators later NaN: a program that trains in float32 fails as soon as autocast is switched on.

    ## Faulty
    ```python
    scores = scores.masked_fill(pad, -1e9)
    ```

    ## Sound
    ```python
    scores = scores.masked_fill(pad, torch.finfo(scores.dtype).min)
    ```

    ## When it is silent
    Infinite gradients that a GradScaler finds (it skips the step and lowers its scale); `-inf` in a mask; values that
    overflow in float32 too, which is A110's subject.

    ## References
    * [Automatic mixed precision](https://docs.pytorch.org/docs/stable/amp.html)
    * [torch.finfo](https://docs.pytorch.org/docs/stable/type_info.html)
    """

    code = "P105"
    name = "low-precision-overflow"
    severity = Severity.ERROR
    explains = ("A110", "O111", "M113")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        told: set[int | None] = set()
        for refused in run.numerics.low_precision:
            if refused.site in told:
                continue
            told.add(refused.site)
            if refused.kind == "constant":
                yield self.finding(
                    "a constant here is too large for {dtype}, whose largest value is {largest}",
                    at=run.at(refused.site),
                    evidence=(evidence("torch refuses it: {text}", text=refused.message),),
                    fix="use torch.finfo(x.dtype).min instead of the constant (or compute this part in float32: "
                    "x.float(), torch.autocast(..., enabled=False))",
                    first_step=refused.step,
                    subjects=(f"site:{refused.site}",),
                    dtype=refused.dtype,
                    largest=_LARGEST[refused.dtype],
                )
            elif refused.kind == "overflow":
                yield self.finding(
                    "{operator} gives infinity in {dtype}, whose largest value is {largest}",
                    at=run.at(refused.site),
                    fix="compute this part in float32: x.float(), or torch.autocast(..., enabled=False) around it",
                    first_step=refused.step,
                    subjects=(f"site:{refused.site}",),
                    operator=refused.operator,
                    dtype=refused.dtype,
                    largest=_LARGEST[refused.dtype],
                )
            elif refused.kind == "angle" and refused.times >= 2:
                yield self.finding(
                    "angles up to {value:,.0f} are computed in {dtype} here, where neighbouring numbers of that size "
                    "are {width:g} apart: {operator} of them is noise",
                    at=run.at(refused.site),
                    evidence=(
                        evidence(
                            "integers are exact in {dtype} up to {exact} only",
                            dtype=refused.dtype,
                            exact=_EXACT[refused.dtype],
                        ),
                    ),
                    fix="compute positions, frequencies and angles in float32: torch.autocast(..., enabled=False) "
                    "around them, and turn the cosine and sine to half precision",
                    first_step=refused.step,
                    count=refused.times,
                    subjects=(f"site:{refused.site}",),
                    value=refused.value,
                    dtype=refused.dtype,
                    width=2.0 ** math.floor(math.log2(refused.value)) * _WIDTH[refused.dtype],
                    operator=refused.operator,
                )
        found = next((f for f in run.numerics.non_finite if f.site not in told and _is_of_precision(run, f)), None)
        if found is not None:
            yield self._tell(run, found)
        else:
            yield from self._steps(run)

    def _tell(self, run: Run, found: NonFinite) -> Finding:
        facts = [
            evidence(
                "{dtype} ends at {largest} and is zero below 6e-8", dtype=found.dtype, largest=_LARGEST[found.dtype]
            )
        ]
        told, at = "{operator} is computed in {dtype} here and gives what {dtype} cannot hold", run.at(found.site)
        told += " ({bad:,} of {of:,} values)" * bool(found.of)
        fix = (
            "compute this part in float32: x.float(), or torch.autocast(..., enabled=False) around it; an epsilon for "
            "float16 must be 1e-5 or more"
        )
        if found.kind == "softmax":
            told = "a constant here is infinite in {dtype}; where it masks a whole row, the softmax gives NaN"
            facts.append(evidence("{bad:,} of {of:,} rows are masked throughout", at, bad=found.bad, of=found.of))
            at, fix = run.at(found.constant_site), "use torch.finfo(x.dtype).min instead of the constant"
        if found.skipped:
            facts.append(evidence("the GradScaler skips such steps; lowering its scale does not help here"))
        return self.finding(
            told,
            at=at,
            evidence=facts,
            fix=fix,
            first_step=found.step,
            subjects=(f"site:{found.site}", f"loss:{found.loss_site}"),
            operator=found.operator,
            dtype=found.dtype,
            bad=found.bad,
            of=found.of,
        )

    def _steps(self, run: Run) -> Iterator[Finding]:
        """What goes wrong between the gradients and the parameters."""
        for found in run.numerics.low_precision:
            if found.optimizer is None:
                continue
            optimizer = run.ledger.optimizers[found.optimizer]
            parameters = {i for g in optimizer.groups for i in g.parameters}
            subjects = {
                f"optimizer:{found.optimizer}",
                *(f"root:{r}" for i in parameters if (r := run.ledger.parameters[i].root) is not None),
            }
            if found.kind == "epsilon" and found.times and found.dtype == "float16":
                tiny = 0 < found.value < 3e-8
                yield self.finding(
                    "{optimizer} turns finite float16 parameters and gradients into NaN"
                    + (": its eps of {eps:g} is zero in float16, so it divides by zero" if tiny else ""),
                    at=run.at(found.site),
                    fix="keep the parameters in float32 and use torch.autocast with a GradScaler (or bfloat16); "
                    "eps must be 1e-7 or more in float16",
                    first_step=found.step,
                    subjects=subjects,
                    optimizer=optimizer.name,
                    eps=found.value,
                )
            elif found.kind == "lost_update" and _throughout(found.shares, _LOST):
                yield self.finding(
                    "{share:.0%} of the parameters do not change in a step of {optimizer}: the update is smaller than "
                    "{dtype} can add to them",
                    at=run.at(found.site),
                    evidence=(
                        evidence(
                            "learning rate {lr:g}; neighbouring numbers in {dtype} are {width:.1%} apart",
                            lr=found.value,
                            dtype=found.dtype,
                            width=_WIDTH[found.dtype],
                        ),
                    ),
                    fix="keep the parameters in float32 and compute in half precision by torch.autocast",
                    first_step=found.step,
                    subjects=subjects,
                    share=min(found.shares),
                    optimizer=optimizer.name,
                    dtype=found.dtype,
                )
            elif found.kind == "underflow" and _throughout(found.shares, _UNDERFLOWN) and not run.protocol.scalers:
                yield self.finding(
                    "gradients vanish in float16: {share:.0%} of them are exactly zero, and no GradScaler keeps them "
                    "above 6e-8",
                    at=run.at(optimizer.backward_site) or run.at(found.site),
                    evidence=(evidence("stepped by {optimizer}", run.at(found.site), optimizer=optimizer.name),),
                    fix="scale the loss: scaler = torch.amp.GradScaler(); scaler.scale(loss).backward(); "
                    "scaler.step(optimizer); scaler.update(). Or use bfloat16",
                    first_step=found.step,
                    subjects=subjects,
                    share=min(found.shares),
                )


def _throughout(shares: list[float], least: float) -> bool:
    return len(shares) >= _LOOKS and min(shares) >= least


def _is_of_precision(run: Run, found: NonFinite) -> bool:
    """Whether a loss that is not finite came of what float16 cannot hold, and did harm."""
    if found.dtype != "float16" or found.kind in _NOT_OF_PRECISION:
        return False
    if found.kind == "softmax" and found.constant_site is None:
        return False  # minus infinity written as such
    return found.stepped or found.ended or _is_skipped_again_and_again(run, found)


def _is_skipped_again_and_again(run: Run, found: NonFinite) -> bool:
    """Whether a scaler leaves out steps whose loss is not finite before any scaling."""
    return (
        found.skipped
        and found.before_scale
        and any(h.site == found.backward_site and h.non_finite >= _SKIPPED for h in run.numerics.losses)
    )
