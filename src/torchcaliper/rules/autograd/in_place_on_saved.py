"""A109."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Failure, Run

_MESSAGE = "has been modified by an inplace operation"


class InPlaceOnSaved(Rule):
    """An in-place write changed a tensor that backward needs.

    ## What it finds
    The failure "one of the variables needed for gradient computation has been modified by an inplace operation", told
    at the write itself, with the line that made the tensor; or at the optimizer step that changed the parameters of a
    graph before the last backward through it.

    ## Why it matters
    Many operators keep their input or output for backward (ReLU, sigmoid and exp their output; multiplication and
    matrix products their inputs). A write into it would give wrong gradients, so autograd refuses; its message names
    neither line.

    ## Faulty
        out = F.relu(self.conv(x))
        out += identity                 # relu's backward needs its output

    ## Sound
        out = F.relu(self.conv(x))
        out = out + identity

    ## When it is silent
    As long as backward works: in-place operators that autograd allows are fine.

    ## References
    * https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks
    """

    code = "A109"
    name = "in-place-on-saved"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        told: set[int | None] = set()
        for failure in run.failures:
            if _MESSAGE in failure.message and failure.site not in told:
                told.add(failure.site)
                yield self._finding(run, failure)

    def _finding(self, run: Run, failure: Failure) -> Finding:
        known = failure.details
        shape, node = known.get("shape", []), known.get("node") or "a leaf"
        backward = evidence(
            "backward failed here: {node} at version {actual} where it needs version {expected}",
            run.at(failure.site),
            node=f"output of {node}" if known.get("node") else "the tensor",
            actual=known.get("actual", "?"),
            expected=known.get("expected", "?"),
        )
        if "step_site" in known:
            return self.finding(
                "{parameter} was changed by this step before the last backward through a graph that used it",
                at=run.at(known["step_site"]),
                evidence=[backward],
                fix="Do all backward calls of these graphs first, or compute the later loss after the step.",
                first_step=failure.step,
                subjects=[f"optimizer:{known['optimizer']}"],
                parameter=known["parameter"],
            )
        if known.get("write_site") is not None:
            made = known.get("made_site")
            shown = (
                [evidence("made here by {node}, which backward needs unchanged", run.at(made), node=node)]
                if made
                else []
            )
            return self.finding(
                "{write} writes into a tensor {shape} that backward still needs",
                at=run.at(known["write_site"]),
                evidence=[*shown, backward],
                fix="Write the result to a new tensor: x = x + y instead of x += y, x.clone() before x[...] = y.",
                first_step=failure.step,
                write=known["write"],
                shape=shape,
            )
        return self.finding(
            "a tensor {shape} made by {node} was written to in place between the forward and this backward",
            at=run.at(failure.site),
            evidence=[backward],
            fix="Look for x += y, x[...] = y, x.op_() or inplace=True on that tensor; write to a new one instead.",
            first_step=failure.step,
            shape=shape,
            node=node,
        )
