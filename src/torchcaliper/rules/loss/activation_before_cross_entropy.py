"""L101: an activation in front of cross_entropy."""

from __future__ import annotations

import math
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_kinds import LOG_PROBABILITIES, PROBABILITIES, SIGMOID, LossUse
from torchcaliper.source import kinds
from torchcaliper.source.trace import Reading

#: calls looked at before the kind is told
LOOKS = 2
#: by values alone
BY_VALUE = 4


class ActivationBeforeCrossEntropy(Rule):
    """Softmax or sigmoid output passed to `cross_entropy`.

    ## What it finds
    The first argument of `cross_entropy` was made by a softmax or a sigmoid: in the model's last layer, behind other
    calls, in another file, or written by hand as `exp(x) / exp(x).sum()`. It is known from the operators that made the
    value; where these are hidden, from values that are probabilities in several batches.

    ## Why it matters
    `cross_entropy` applies log-softmax itself. Given probabilities it can no longer become small: with C classes it
    stays above `log(e + C - 1) - 1`, and the gradient of a sample that is wrong and certain vanishes. Training is
    slow, ends too early, and looks like a hard task.

    ## Faulty
    ```python
    self.net = nn.Sequential(nn.Linear(64, 10), nn.Softmax(dim=1))
    loss = nn.functional.cross_entropy(self.net(x), y)
    ```

    ## Sound
    ```python
    self.net = nn.Linear(64, 10)
    loss = nn.functional.cross_entropy(self.net(x), y)
    probabilities = self.net(x).softmax(dim=1)  # where they are needed
    ```

    ## When it is silent
    For a softmax further up, with a layer in between (attention). For probabilities as targets. Log-softmax before
    `cross_entropy` gives the same value and gradient, and is advice. Calls without gradients are not judged.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html
    """

    code = "L101"
    name = "activation-before-cross-entropy"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for use in run.kinds.losses:
            if use.name != "cross_entropy":
                continue
            for kind, least in ((PROBABILITIES, LOOKS), (SIGMOID, LOOKS), (LOG_PROBABILITIES, LOOKS)):
                looks = use.kinds.get(kind, 0)
                if looks < (BY_VALUE if use.kind_by_value else least) or 2 * looks < use.looks:
                    continue
                if use.made_site is None and not use.kind_by_value and not run.complete and use.looks < 2 * BY_VALUE:
                    continue  # a look that tells the line is under way
                yield self._finding(run, use, kind)
                break

    def _finding(self, run: Run, use: LossUse, kind: str) -> Finding:
        classes = use.input_shape[1] if len(use.input_shape) > 1 else max(use.input_shape, default=0)
        idempotent = kind == LOG_PROBABILITIES
        facts = [evidence("cross_entropy applies log-softmax itself", run.at(use.site))]
        if idempotent:
            facts.append(evidence("log-softmax of log-probabilities changes nothing: value and gradient are the same"))
        elif kind == PROBABILITIES and classes > 1:
            facts.append(
                evidence(
                    "for {classes} classes the loss cannot fall below {bound:.3f}; it stood at {value}",
                    classes=classes,
                    bound=math.log(math.e + classes - 1) - 1,
                    value=use.stood_at(),
                )
            )
        if use.kind_by_value:
            facts.append(
                evidence("known from the values: rows between 0 and 1 that sum to 1, in {n} batches", n=use.looks)
            )
        return self.finding(
            "{what} goes into cross_entropy, {seen} of {times} calls looked at",
            at=run.at(use.made_site if use.made_site is not None else use.site),
            evidence=facts,
            severity=Severity.ADVICE if idempotent else None,
            fix="pass the plain scores (logits), and apply softmax only where probabilities are needed",
            count=use.times,
            first_step=use.first_step,
            subjects=[f"loss:{use.site}"],
            what={PROBABILITIES: "softmax output", SIGMOID: "sigmoid output", LOG_PROBABILITIES: "log-softmax output"}[
                kind
            ]
            + (f" ({use.made_by})" if use.made_by else ""),
            seen=use.kinds[kind],
            times=use.looks,
        )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for loss in reading.events("cross_entropy"):
            made = kinds.kind_of(loss.value("input"))
            if made is None or loss.context.grad is False:
                continue
            kind, activation = made
            yield self.finding(
                "{what} goes into cross_entropy",
                at=kinds.place_of(activation),
                evidence=[evidence("cross_entropy applies log-softmax itself", loss.location)],
                severity=Severity.ADVICE if kind == kinds.LOG_PROBABILITIES else None,
                fix="pass the plain scores (logits), and apply softmax only where probabilities are needed",
                subjects=[f"loss:{loss.location}"],
                what=f"{activation.op.replace('_', '-')} output",
            )
