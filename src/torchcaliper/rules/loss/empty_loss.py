"""L105: a mean over nothing."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run


class EmptyLoss(Rule):
    """A loss whose mean has nothing to average.

    ## What it finds
    A loss that is NaN because every target of the batch is `ignore_index`, or because the batch is empty.

    ## Why it matters
    A mean over no element is 0 / 0. One such batch makes all weights NaN at the next step, however rare it is.

    ## Faulty
    ```python
    loss = F.cross_entropy(logits, labels, ignore_index=-100)  # a batch of padding alone
    ```

    ## Sound
    ```python
    total = F.cross_entropy(logits, labels, ignore_index=-100, reduction="sum")
    loss = total / (labels != -100).sum().clamp(min=1)
    ```

    ## When it is silent
    While at least one target counts; for losses that are NaN for other reasons; when the program leaves such a loss out
    of its backward.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html
    """

    code = "L105"
    name = "empty-loss"
    severity = Severity.ERROR
    explains = ("A110", "O110", "P105", "M113")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for use in run.kinds.losses:
            if not use.broken_backwards:
                continue
            yield self.finding(
                "{loss} is NaN at step {step}: {why}",
                at=run.at(use.site),
                evidence=[
                    evidence(
                        "{n} of {calls} calls, shape {shape}",
                        n=use.ignored + use.empty,
                        calls=use.times,
                        shape=use.input_shape,
                    )
                ],
                fix="sum the loss and divide by the number of targets that count, at least 1; or skip such batches",
                count=use.ignored + use.empty,
                first_step=use.ignored_step,
                subjects=[f"loss:{use.site}", *([f"root:{use.root}"] if use.root is not None else [])],
                loss=use.name,
                step=use.ignored_step or 0,
                why="every target of the batch is ignored" if use.ignored else "the batch is empty",
            )
