"""A110: NaN or infinity first arises in this operator."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_numerics import NonFinite

#: what happened, what to do
_KINDS = {
    "log": (
        "the logarithm of {value:.3g} is taken here ({bad:,} of {of:,} values)",
        "keep the argument away from zero, or use a stable form: logsigmoid, log_softmax, a loss that takes logits, "
        "x.clamp_min(1e-8).log()",
    ),
    "division": (
        "a division by zero happens here ({bad:,} of {of:,} divisors are 0)",
        "add a small number to the divisor or clamp it: x / y.clamp_min(1e-8)",
    ),
    "sqrt": (
        "a square root of a negative number, or of zero below a fraction, is taken here ({bad:,} of {of:,} values)",
        "clamp the argument: x.clamp_min(1e-8).sqrt()",
    ),
    "power": (
        "a negative number ({value:.3g}) is raised to a fractional power here ({bad:,} of {of:,} values)",
        "clamp the base to a small positive number",
    ),
    "exp": (
        "an exponential overflows here ({bad:,} of {of:,} values)",
        "bound its argument (clamp it, or subtract the maximum), or predict less directly: softplus instead of exp",
    ),
    "softmax": (
        "a softmax gets rows that are minus infinity throughout, or not finite ({bad:,} of {of:,} rows)",
        "leave at least one position unmasked in every row, or fill such rows with zeros after the softmax",
    ),
    "no_targets": (
        "the mean is over no target at all: each of the {of:,} targets of this batch is ignored, so it is 0 / 0",
        "sum the loss and divide by the number of valid targets, at least 1; or leave such batches out",
    ),
    "empty": ("a mean over no value at all is taken here: 0 / 0", "leave out the term when its selection is empty"),
    "spread": (
        "the spread of a single value is taken here, which is 0 / 0",
        "give std/var correction=0, or leave out groups of one",
    ),
    "domain": (
        "{operator} gets values outside of its domain ({value:.3g}; {bad:,} of {of:,})",
        "clamp the argument to a little inside of the domain",
    ),
    "backward": (
        "{operator} has no finite derivative at {value:.3g}, and gets it here ({bad:,} of {of:,} values)",
        "add a small number before {operator}, or clamp its argument away from that point; a torch.where after it "
        "does not help",
    ),
    "overflow": (
        "{operator} gives infinity here ({bad:,} of {of:,} values; the largest finite one is {value:.3g})",
        "find what makes the values grow: a lower learning rate, gradient clipping, a normalisation",
    ),
}
_PLAIN = (
    "NaN or infinity first shows up here, in {operator} ({bad:,} of {of:,} values)",
    "print the values that go into this line at this step",
)


class NonFiniteGradient(Rule):
    """NaN or infinity first arises in this operator.

    ## What it finds
    A loss or a gradient that is not finite, traced back to the operator that made the first such value from finite
    ones: the logarithm of zero, a division by zero, a mean over nothing, an exponential that overflows, a softmax over
    a row that is masked throughout; or, where the loss itself is finite, the operator whose derivative is not: the
    square root of zero, a power below one at zero, `acos` at 1, a `torch.where` that hides one of these.

    ## Why it matters
    One step with such a gradient makes every parameter NaN, and from then on all losses are NaN. By the time it is
    seen, nothing tells any more where it began.

    ## Faulty
    ```python
    loss = -(target * torch.log(p) + (1 - target) * torch.log(1 - p)).mean()
    ```

    ## Sound
    ```python
    loss = F.binary_cross_entropy_with_logits(score, target)
    ```

    ## When it is silent
    Losses that are not finite and that the program skips (no step uses their gradients); a GradScaler that finds
    infinities and skips the step; infinities that never reach a loss (masks, running minima); NaN that arrives in
    the data is D108's subject, and is told here only where nothing else tells it.

    ## References
    * [Autograd: divisions by zero and masked gradients](https://docs.pytorch.org/docs/stable/notes/faq.html)
    * [Anomaly detection](https://docs.pytorch.org/docs/stable/autograd.html#anomaly-detection)
    """

    code = "A110"
    name = "non-finite-gradient"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for found in run.numerics.non_finite:
            if found.stepped or found.ended:
                yield self._tell(run, found)
                return  # what comes after has inherited it

    def _tell(self, run: Run, found: NonFinite) -> Finding:
        told, fix = _KINDS.get(found.kind, _PLAIN)
        if found.kind == "input":
            told, fix = (
                "the data that arrives here already holds NaN or infinity ({bad:,} of {of:,} values)",
                "look for missing values in the data set, and for divisions in its normalisation",
            )
        elif found.kind == "parameter":
            told = "the loss is not finite since parameters hold NaN or infinity; an earlier step has put it there"
            fix = "look at the gradients before that step: print their norm, or clip them"
        elif found.kind == "slope":
            told = (
                "gradients became NaN or infinite although the loss was finite; of the operators here {operator} alone "
                "can do that: its derivative can be infinite where its value is not"
            )
            fix = (
                "keep the argument of {operator} away from the edge of its domain: add a small number, or clamp it; "
                "for an autograd.Function of your own, look at its backward"
            )
        elif found.kind == "unknown" and not found.operator:
            told = "the {what} is not finite from step {step:,} on"
            fix = "run this step under torch.autograd.set_detect_anomaly(True) to name the operator"
        first = (
            evidence(
                "the loss was still {loss:.4g}, the gradients are not finite"
                + (" ({parameter})" * bool(found.parameter)),
                run.at(found.backward_site),
                loss=found.loss if math.isfinite(found.loss) or found.previous is None else found.previous,
                parameter=found.parameter,
            )
            if found.in_gradient
            else evidence(
                "step {step:,}: the loss is {loss}"
                + ("; the one before was {previous:.4g}" if found.previous is not None else ""),
                run.at(found.backward_site if found.backward_site is not None else found.loss_site),
                step=found.step,
                loss="NaN" if math.isnan(found.loss) else "infinite",
                previous=found.previous,
            )
        )
        places = {found.site, found.loss_site, found.backward_site} - {None}
        return self.finding(
            told,
            at=run.at(found.site),
            evidence=(first,),
            fix=fix,
            first_step=found.step,
            subjects=(
                *(f"loss:{site}" for site in places),
                *(f"site:{site}" for site in places),
                *((f"root:{found.root}",) if found.root is not None else ()),
                *(f"optimizer:{o}" for o in _optimizers(run, found)),
            ),
            operator=found.operator,
            bad=found.bad,
            of=found.of,
            value=found.value,
            step=found.step,
            what="gradient" if found.in_gradient else "loss",
        )


def _optimizers(run: Run, found: NonFinite) -> list[int]:
    return [o for h in run.numerics.losses if h.site == found.backward_site for o in h.optimizers]
