"""M125."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Failure, Run


class ViewNotPossible(Rule):
    """`view` of a tensor whose memory is in another order.

    ## What it finds
    The failure "view size is not compatible with input tensor's size and stride", told at the operation that made the
    tensor non-contiguous (a transpose, permute, expand, slice), with its shape and strides.

    ## Why it matters
    `view` never copies: it can only give other sizes to memory that lies in that order already. After `transpose` or
    `permute` the memory still lies in the old order. `reshape` copies where it has to; but see first whether the axes
    are in the order that is meant, since a reshape of the wrong order runs and mixes up the values.

    ## Faulty
        x = x.transpose(1, 2)
        x = x.view(batch, length, heads * width)

    ## Sound
        x = x.transpose(1, 2)
        x = x.reshape(batch, length, heads * width)

    ## When it is silent
    As long as `view` works, and for exceptions that the program catches and goes on after.

    ## References
    * https://docs.pytorch.org/docs/stable/tensor_view.html
    * https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html
    """

    code = "M125"
    name = "view-not-possible"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for failure in run.failures:
            if failure.uncaught and failure.details.get("cause") == "strides":
                yield self._finding(run, failure)
                return

    def _finding(self, run: Run, failure: Failure) -> Finding:
        known = failure.details
        raised, operation = known.get("raised_site", failure.site), known.get("operation", "")
        name = known.get("tensor") or "the tensor"
        shown = []
        if "shape" in known:
            shown.append(
                evidence(
                    "view() refused `{name}` here: shape {shape}, strides {strides}{layout}",
                    run.at(raised),
                    name=name,
                    shape=known["shape"],
                    strides=known["strides"],
                    layout=" (channels last)" if known.get("channels_last") else "",
                )
            )
        else:
            shown.append(evidence("view() refused it here", run.at(raised)))
        site = known.get("operation_site")
        return self.finding(
            "`{operation}` changes the order of the axes without moving memory, so the view() after it is not possible"
            if operation
            else "view() is not possible: the memory of `{name}` does not lie in the order of its axes",
            at=run.at(site if site is not None else raised),
            evidence=shown,
            fix="Use .reshape(...) instead of .view(...), or .contiguous() before it; both copy.",
            first_step=failure.step,
            operation=operation,
            name=name,
        )
