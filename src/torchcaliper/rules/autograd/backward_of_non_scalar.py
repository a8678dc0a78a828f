"""A116."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Failure, Run


class BackwardOfNonScalar(Rule):
    """`backward()` of a tensor with more than one element.

    ## What it finds
    The failure "grad can be implicitly created only for scalar outputs", told at the line that made the tensor, with
    its shape: a loss without its reduction, or an output that was taken for a loss.

    ## Why it matters
    Gradients are those of one number. For a tensor of several, autograd cannot know how they are to be weighed, so it
    refuses; its message tells neither the shape nor where the tensor comes from.

    ## Faulty
        loss = F.cross_entropy(logits, y, reduction="none") * weights       # shape [32]
        loss.backward()

    ## Sound
        loss = (F.cross_entropy(logits, y, reduction="none") * weights).mean()
        loss.backward()

    ## When it is silent
    When a gradient is given (`loss.backward(torch.ones_like(loss))`), and for exceptions that the program catches and
    goes on after.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html
    """

    code = "A116"
    name = "backward-of-non-scalar"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for failure in run.failures:
            if failure.uncaught and failure.details.get("cause") == "non-scalar":
                yield self._finding(run, failure)
                return

    def _finding(self, run: Run, failure: Failure) -> Finding:
        known = failure.details
        name, by, shape = known.get("name") or "the tensor", known.get("made_by", ""), known["shape"]
        made = known.get("made_site")
        loss = "loss" in by or "cross_entropy" in by
        shown = [evidence("backward() refused it here: {message}", run.at(failure.site), message=failure.message)]
        if loss:
            shown.append(evidence("{by} kept one loss per element: its reduction is 'none'", run.at(made), by=by))
        fix = (
            "Reduce it to one number: {name}.mean() (or .sum()), or leave out reduction='none'."
            if loss
            else "Reduce it to one number before backward(): {name}.mean() or {name}.sum()."
        )
        return self.finding(
            "`{name}` is no single number but a tensor {shape}{how}, so backward() does not know what to differentiate",
            at=run.at(made if made is not None else failure.site),
            evidence=shown,
            fix=fix,
            first_step=failure.step,
            subjects=[f"site:{failure.site}"],
            name=name,
            shape=shape,
            how=f", made by {by}" if by and not by.startswith("__") else "",
        )
