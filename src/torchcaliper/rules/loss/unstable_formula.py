"""L113: formulas that overflow though what they stand for does not."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.graphs import depends_on
from torchcaliper.source.operations import RESHAPES
from torchcaliper.source.steps import backwards, loss_of
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Constant, Symbol, Value

LOOKS = 2
_INSTEAD = {
    "log(softmax(x))": "log_softmax(x, dim)",
    "log(sigmoid(x))": "logsigmoid(x)",
    "log(1 - sigmoid(x))": "logsigmoid(-x)",
}


class UnstableFormula(Rule):
    """`log(softmax(x))`, `log(sigmoid(x))` or `log(1 - sigmoid(x))` written by hand.

    ## What it finds
    A logarithm of a softmax or a sigmoid in the loss, with nothing that keeps its argument away from 0.

    ## Why it matters
    In float32 a sigmoid is exactly 1 for scores above 17, and a softmax exactly 0 below -104: the logarithm is minus
    infinity and the gradient NaN. The combined functions compute the same without leaving the finite numbers.

    ## Faulty
    ```python
    loss = -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()  # p = torch.sigmoid(score)
    ```

    ## Sound
    ```python
    loss = F.binary_cross_entropy_with_logits(score, y)
    ```

    ## When it is silent
    Where an epsilon or a clamp keeps the argument away from 0, and outside of the loss. It is advice as long as all
    values were finite.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.LogSigmoid.html
    """

    code = "L113"
    name = "unstable-formula"
    severity = Severity.ADVICE
    explains = ("A110",)

    def judge_run(self, run: Run) -> Iterator[Finding]:
        broken = {found.site for found in run.numerics.non_finite}
        for place in run.kinds.formulas:
            if place.in_loss < LOOKS:
                continue
            failed = bool(place.infinite) or place.site in broken
            facts = []
            if place.infinite:
                facts.append(evidence("{n} values were infinite or NaN in the looks", n=place.infinite))
            yield self.finding(
                "{formula} leaves the finite numbers for large scores",
                at=run.at(place.site),
                evidence=facts,
                severity=Severity.ERROR if failed else None,
                fix="{instead}",
                count=place.times,
                first_step=place.first_step,
                subjects=[f"site:{place.site}" if failed else f"formula:{place.site}"],
                formula=place.formula,
                instead=_INSTEAD.get(place.formula, "the combined function"),
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[object] = set()
        for trace in reading.traces:
            for event in trace.named("log"):
                formula = _formula(event.value("input") or event.receiver)
                if formula is None or (event.location.path, event.location.line) in told or event.context.grad is False:
                    continue
                if not any(depends_on(loss_of(b), {id(event.result)}) for b in backwards(trace)):
                    continue
                told.add((event.location.path, event.location.line))
                yield self.finding(
                    "{formula} leaves the finite numbers for large scores",
                    at=event.location,
                    fix="{better}",
                    subjects=[f"loss:{event.location}"],
                    formula=formula,
                    better=_INSTEAD.get(formula, "a function of the scores themselves"),
                )


def _formula(value: Value | None) -> str | None:
    """The unstable formula that the logarithm of a value is; None where an epsilon keeps it away from 0."""
    inner, pattern = value, "log({})"
    for _ in range(8):
        if not isinstance(inner, Symbol):
            return None
        if inner.op in ("softmax", "sigmoid"):
            return pattern.format(f"{inner.op}(x)")
        if inner.op == "sub" and len(inner.inputs) == 2 and pattern == "log({})":
            one = inner.inputs[0]
            if not (isinstance(one, Constant) and one.value in (1, 1.0)):
                return None
            pattern, inner = "log(1 - {})", inner.inputs[1]
        elif inner.op in RESHAPES and inner.inputs:
            inner = inner.inputs[0]
        else:
            return None
    return None
