"""L112: CTC with inputs shorter than their targets."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run


class CtcInfeasible(Rule):
    """`ctc_loss` for which no alignment exists.

    ## What it finds
    Samples whose input has fewer time steps than their target has labels, with one more for each label that follows
    its equal, while `zero_infinity` is off.

    ## Why it matters
    There is no way to write the target in that time: the loss is infinite and its gradient NaN.

    ## Faulty
    ```python
    F.ctc_loss(log_probs, targets, torch.full((n,), 10), target_lengths)  # targets of up to 14 labels
    ```

    ## Sound
    ```python
    F.ctc_loss(log_probs, targets, input_lengths, target_lengths, zero_infinity=True)
    ```

    ## When it is silent
    With `zero_infinity=True`, and where every sample has time enough.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html
    """

    code = "L112"
    name = "ctc-infeasible"
    severity = Severity.ERROR
    explains = ("A110", "O110")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for use in run.kinds.losses:
            if use.name != "ctc_loss" or not use.infeasible or not use.not_finite:
                continue
            length, needed = use.infeasible_lengths
            yield self.finding(
                "ctc_loss is infinite: an input of {length} steps for a target that needs {needed}",
                at=run.at(use.site),
                evidence=[
                    evidence(
                        "{n} samples in the {looks} calls looked at; {bad} losses were not finite",
                        n=use.infeasible,
                        looks=use.looks,
                        bad=use.not_finite,
                    )
                ],
                fix="less downsampling before the loss, leave such samples out, or zero_infinity=True",
                count=use.not_finite,
                first_step=use.first_step,
                subjects=[f"loss:{use.site}", *([f"root:{use.root}"] if use.root is not None else [])],
                length=length,
                needed=needed,
            )
