"""L109: targets of the wrong shape or dtype."""

from __future__ import annotations

import re
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

LOOKS = 2
#: a part of torch's message -> (what is wrong, what to do)
_REFUSALS = (
    (
        r"multi-target not supported",
        "class indices must have one dimension less than the scores",
        "target.squeeze(1) where it has the shape (N, 1); target.argmax(1) where it is one-hot",
    ),
    (
        r"Expected floating point type for target with class probabilities",
        "the target has the shape of the scores, so it is read as probabilities, and holds integers",
        "pass class indices: target.argmax(1); or target.float()",
    ),
    (
        r"expected scalar type Long but found|nll_loss.*not implemented for '(Int|Float|Double|Half|BFloat16)'",
        "class indices must be integers of 64 bits",
        "target.long()",
    ),
    (
        r"result type Float can't be cast to|Found dtype Long but expected Float|scalar type Float but found Long",
        "the target holds integers where real numbers are compared",
        "target.float()",
    ),
    (
        r"Target \d+ is out of bounds|class_target.*out of bounds",
        "a class index is not below the number of scores",
        "count classes from 0, and give the last layer as many outputs as there are classes",
    ),
    (
        r"Target size .* must be the same as input size",
        "target and scores must have the same shape",
        "target.unsqueeze(1) where the scores have the shape (N, 1), or scores.squeeze(1)",
    ),
)


class TargetShapeOrDtype(Rule):
    """Targets of a shape, a dtype or a range that the loss is not made for.

    ## What it finds
    Class indices as the targets of `binary_cross_entropy_with_logits`, which takes them for probabilities above 1
    without a word. Where torch refuses targets, the refusal is explained: one-hot rows where indices are meant,
    indices as floats, a trailing dimension of 1, an index that is out of bounds.

    ## Why it matters
    With a target of 7 the binary loss has no minimum: scores grow without end and the loss falls below zero.

    ## Faulty
    ```python
    loss = F.binary_cross_entropy_with_logits(scores, digit.float().unsqueeze(1))  # digits 0 to 9
    ```

    ## Sound
    ```python
    loss = F.cross_entropy(scores, digit)  # scores: (N, 10)
    ```

    ## When it is silent
    For probabilities as targets of `cross_entropy`, soft labels, and targets slightly outside of [0, 1] (smoothing).

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.BCEWithLogitsLoss.html
    """

    code = "L109"
    name = "target-shape-or-dtype"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for use in run.kinds.losses:
            if use.name != "binary_cross_entropy_with_logits" or use.looks < LOOKS:
                continue
            low, high = use.target_low or 0.0, use.target_high or 0.0
            if high >= 2.0 or low <= -1.0:
                yield self.finding(
                    "{loss} takes targets for probabilities, and they go from {low:g} to {high:g}",
                    at=run.at(use.site),
                    evidence=[
                        evidence("target of shape {shape}, {dtype}", shape=use.target_shape, dtype=use.target_dtype)
                    ],
                    fix="for classes use cross_entropy with a score for each; for labels of -1 and 1, (target + 1) / 2",
                    count=use.times,
                    first_step=use.first_step,
                    subjects=[f"loss:{use.site}"],
                    loss=use.name,
                    low=low,
                    high=high,
                )
        for failure in run.failures:
            if failure.call != "loss" or not failure.uncaught:
                continue
            for pattern, why, fix in _REFUSALS:
                if re.search(pattern, failure.message):
                    yield self.finding(
                        "torch refuses the targets of this loss: {why}",
                        at=run.at(failure.site),
                        evidence=[evidence("torch says: {message}", message=failure.message.partition("\n")[0])],
                        fix=fix,
                        first_step=failure.step,
                        subjects=[f"loss:{failure.site}"],
                        why=why,
                    )
                    break
