"""L102: a sigmoid in front of binary_cross_entropy_with_logits."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_kinds import PROBABILITIES, SIGMOID
from torchcaliper.source import kinds
from torchcaliper.source.trace import Reading

LOOKS = 2
_LOSSES = ("binary_cross_entropy_with_logits", "multilabel_soft_margin_loss")


class SigmoidBeforeLogitsLoss(Rule):
    """Sigmoid output passed to a loss that applies the sigmoid itself.

    ## What it finds
    The first argument of `binary_cross_entropy_with_logits` (or `multilabel_soft_margin_loss`) was made by a sigmoid
    or a softmax.

    ## Why it matters
    The loss applies the sigmoid itself. Of a value between 0 and 1 it makes a probability between 0.5 and 0.73: a
    negative can never be called certain, the loss cannot fall below 0.31 for positives and 0.69 for negatives, and
    gradients are small.

    ## Faulty
    ```python
    loss = F.binary_cross_entropy_with_logits(torch.sigmoid(self.head(x)), y)
    ```

    ## Sound
    ```python
    loss = F.binary_cross_entropy_with_logits(self.head(x), y)
    ```

    ## When it is silent
    For gates and attention with a layer in between, for `binary_cross_entropy`, which wants probabilities, and for
    sigmoids in the targets.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html
    """

    code = "L102"
    name = "sigmoid-before-logits-loss"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for use in run.kinds.losses:
            looks = use.kinds.get(SIGMOID, 0) + (0 if use.kind_by_value else use.kinds.get(PROBABILITIES, 0))
            if use.name not in _LOSSES or looks < LOOKS or 2 * looks < use.looks:
                continue
            if use.made_site is None and not run.complete and use.looks < 8:
                continue
            yield self.finding(
                "{made} output goes into {loss}, which applies the sigmoid itself",
                at=run.at(use.made_site if use.made_site is not None else use.site),
                evidence=[
                    evidence("the loss; it stood at {value}", run.at(use.site), value=use.stood_at()),
                    evidence("seen in {looks} of {all} calls looked at", looks=looks, all=use.looks),
                ],
                fix="pass the plain scores (logits), and apply the sigmoid only where probabilities are needed",
                count=use.times,
                first_step=use.first_step,
                subjects=[f"loss:{use.site}"],
                made=use.made_by or "sigmoid",
                loss=use.name,
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[object] = set()
        for loss in reading.events("binary_cross_entropy_with_logits", "multilabel_soft_margin_loss"):
            made = kinds.kind_of(loss.value("input"))
            if made is None or made[0] not in (kinds.SIGMOID, kinds.PROBABILITIES) or loss.context.grad is False:
                continue
            at = kinds.place_of(made[1])
            if at in told:
                continue
            told.add(at)
            yield self.finding(
                "{made} output goes into {loss}, which applies the sigmoid itself",
                at=at,
                evidence=[evidence("the loss takes plain scores", loss.location)],
                fix="pass the plain scores (logits), and apply sigmoid only where probabilities are needed",
                subjects=[f"loss:{loss.location}"],
                made=made[1].op,
                loss=loss.name,
            )
