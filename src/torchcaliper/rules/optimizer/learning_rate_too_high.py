"""O110: updates as large as the weights, and a loss that diverges."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_numerics import LossHistory, SummedLoss, UpdateRatio

#: |update| / |weight|, median over the weight matrices. A thousandth is usual, a tenth is bold; at one nothing that
#: the weights held is left.
_HUGE, _LARGE = 1.0, 0.3
#: growth of the loss over its first value that no training recovers from; where it became NaN a part of that will do
_DIVERGED, _BEFORE_NAN = 30.0, 10.0
#: growth in the first steps after which the loss never came below its first value again
_SPIKE, _SEEN = 5.0, 64
#: a sum over fewer values than that changes the step little
_SUM = 16


class LearningRateTooHigh(Rule):
    """Updates as large as the weights themselves, and the loss diverges.

    ## What it finds
    Both of: steps whose update is as large as the weights it changes (norm of the update over norm of the weight, about
    a thousandth where training goes well); and a loss that grows from its first values by orders of magnitude, becomes
    infinite or NaN after having grown, or jumps at first and never comes below its first value again. A loss that is
    summed over the batch is named as the cause where there is one.

    ## Why it matters
    Such steps overwrite what the weights held. The loss explodes, or the network is left where nothing passes a
    gradient any more.

    ## Faulty
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=50)
    ```

    ## Sound
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    ```

    ## When it is silent
    Large updates while the loss falls (weights that start near zero, a warm-up, a linear model with large targets); a
    loss that grows under small updates (adversarial training, reinforcement learning, a changing task); biases and
    weights that are zero.

    ## References
    * [torch.optim](https://docs.pytorch.org/docs/stable/optim.html)
    * [CS231n: ratio of weights to updates](https://cs231n.github.io/neural-networks-3/#ratio)
    """

    code = "O110"
    name = "learning-rate-too-high"
    severity = Severity.WARNING
    explains = ("A110", "A111", "M113", "P105")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for update in run.numerics.updates:
            courses = [h for h in run.numerics.losses if update.optimizer in h.optimizers and h.first]
            if not courses:
                continue
            course = max(courses, key=lambda h: h.seen)
            how = _divergence(course)
            if how is not None and _is_too_large(update, course):
                yield self._tell(run, update, course, *how)

    def _tell(self, run: Run, update: UpdateRatio, course: LossHistory, told: str, after: float) -> Finding:
        optimizer = run.ledger.optimizers[update.optimizer]
        step, ratio = max(update.ratios, key=lambda r: r[1])
        summed = _summed(run, update, course)
        facts: list[Evidence] = [
            evidence(
                "at step {step:,.0f} the update is {ratio:.2g} times as large as the weights (largest in {example})",
                run.at(optimizer.site),
                step=step,
                ratio=ratio,
                example=update.example,
            ),
            evidence(
                "loss in the first steps: {values}",
                run.at(course.site),
                values=", ".join(f"{v:.3g}" for v in course.first[:6])
                + (", then not finite" if course.non_finite and course.seen < 64 else ""),
            ),
        ]
        at, fix = run.at(optimizer.site), "lower the learning rate by a factor of ten or more (now {lr:g})"
        cause = "the learning rate of {lr:g} is too high for {optimizer}: "
        if summed is not None:
            at, fix = (
                run.at(summed.site),
                "take the mean (reduction='mean'), or divide the learning rate by the size of the sum",
            )
            cause = (
                "the loss is a sum over {values:,} values, which multiplies the step by that number, and the learning "
                "rate of {lr:g} is too high for it: "
            )
        return self.finding(
            cause + told,
            at=at,
            evidence=facts,
            fix=fix,
            first_step=int(step),
            subjects={
                f"optimizer:{update.optimizer}",
                f"loss:{course.site}",
                f"site:{course.site}",
                *(f"root:{r}" for r in update.roots),
            },
            lr=update.lr,
            optimizer=optimizer.name,
            first=course.first[0],
            after=after,
            values=summed.values if summed is not None else 0,
        )


def _divergence(course: LossHistory) -> tuple[str, float] | None:
    """What the loss did, and the value that shows it."""
    first = abs(course.first[0])
    if first == 0.0:
        return None
    if course.non_finite:
        grown = course.largest / first
        if grown >= _BEFORE_NAN:
            return "the loss grows from {first:.3g} to {after:.3g} and is not finite after that", course.largest
        return None
    if len(course.recent) < 8:
        return None
    now = statistics.median(course.recent)
    if now >= _DIVERGED * first and course.seen >= len(course.first):
        return "the loss has grown from {first:.3g} to {after:.3g}", now
    early = max(abs(v) for v in course.first)
    if early >= _SPIKE * first and course.seen >= _SEEN and now >= 0.95 * first and course.first[0] > 0:
        return (
            "the loss jumps from {first:.3g} to {after:.3g} in the first steps and never comes below its first value",
            early,
        )
    return None


def _is_too_large(update: UpdateRatio, course: LossHistory) -> bool:
    huge = [ratio for _, ratio in update.ratios if ratio >= _HUGE]
    large = [ratio for _, ratio in update.ratios if ratio >= _LARGE]
    return bool(huge) and (len(large) >= 2 or course.non_finite > 0)


def _summed(run: Run, update: UpdateRatio, course: LossHistory) -> SummedLoss | None:
    return next(
        (
            s
            for s in run.numerics.summed_losses
            if s.values >= _SUM and (s.root is None or s.root in update.roots or s.root == course.root)
        ),
        None,
    )
