"""A108."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import NonLeafRead, Run


class GradOfNonLeaf(Rule):
    """`.grad` read on a tensor that does not have one.

    ## What it finds
    A read of `.grad` on a tensor that was computed from others, with the reason in this case: the statement meant to
    make a learnable tensor computed something from it at once (`torch.randn(3, requires_grad=True) * 0.1`,
    `nn.Parameter(...).to(device)`), or the tensor is an intermediate result.

    ## Why it matters
    Backward fills `.grad` of leaves only. What is read is None: an update by hand does nothing or fails, and a
    gradient looked at for its size is not there.

    ## Faulty
        w = torch.randn(8, 1, requires_grad=True) * 0.1
        ...
        w.data -= lr * w.grad

    ## Sound
        w = (torch.randn(8, 1) * 0.1).requires_grad_()
        ...
        w.data -= lr * w.grad

    ## When it is silent
    After `retain_grad()`, and when a library reads it.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html
    * https://docs.pytorch.org/docs/stable/generated/torch.Tensor.retain_grad.html
    * https://github.com/pytorch/pytorch/pull/30531
    """

    code = "A108"
    name = "grad-of-non-leaf"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for read in run.non_leaf_reads:
            yield self._lost(run, read) if read.lost_leaf else self._intermediate(run, read)

    def _lost(self, run: Run, read: NonLeafRead) -> Finding:
        return self.finding(
            "{expression} is no leaf: this statement makes a learnable tensor and keeps only what it computes from it",
            at=run.at(read.made_site),
            evidence=[
                evidence("{expression}.grad is read here and is None", run.at(read.site), expression=read.expression),
                evidence("{expression} was made by {made_by}", expression=read.expression, made_by=read.made_by),
            ],
            fix="Compute first, then make it a leaf: (...).requires_grad_(), or nn.Parameter(tensor.to(device)).",
            count=read.times,
            first_step=read.first_step,
            expression=read.expression,
        )

    def _intermediate(self, run: Run, read: NonLeafRead) -> Finding:
        expression = read.expression or "the tensor"
        shown = []
        if read.made_by:
            shown.append(
                evidence(
                    "{expression} was computed by {made_by}",
                    run.at(read.made_site),
                    expression=expression,
                    made_by=read.made_by,
                )
            )
        return self.finding(
            "{expression}.grad is None: {expression} is an intermediate result, and backward fills only leaves",
            at=run.at(read.site),
            evidence=shown,
            fix="{expression}.retain_grad() before backward, or read the .grad of the leaf it was computed from",
            count=read.times,
            first_step=read.first_step,
            expression=expression,
        )
