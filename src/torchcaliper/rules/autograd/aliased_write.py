"""A112: writes into shared memory, and snapshots that change with what they should remember."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

_MESSAGE = "refers to a single memory location"
#: looks in different steps
_LOOKS = 2


class AliasedWrite(Rule):
    """A write into memory that several elements share, or a snapshot that is no copy.

    ## What it finds
    An assignment to some rows of an expanded tensor, which changes all of them, since they are one; torch's own
    refusal to write into such a tensor, explained; and a parameter that is compared with a "snapshot" of an earlier
    step (`p.data`, `p.detach()`) that shares its memory and so has changed with it.

    ## Why it matters
    An expanded tensor holds one row that is shown many times. A snapshot without `clone()` is the parameter itself:
    the distance to it is always zero, so a penalty on it, or a test for convergence, does nothing.

    ## Faulty
    ```python
    anchor = [p.detach() for p in model.parameters()]
    penalty = sum(((p - a) ** 2).sum() for p, a in zip(model.parameters(), anchor))
    ```

    ## Sound
    ```python
    anchor = [p.detach().clone() for p in model.parameters()]
    ```

    ## When it is silent
    Assignments that set all elements along the expanded dimension; `x - x.detach()` within one step (straight-through
    estimators); snapshots that are copies; what happens outside of the steps looked at closely.

    ## References
    * [Tensor.expand](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html)
    * [Tensor.detach](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html)
    """

    code = "A112"
    name = "aliased-write"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for failure in run.failures:
            if failure.uncaught and _MESSAGE in failure.message:
                yield self.finding(
                    "this writes in place into an expanded tensor, whose elements share memory",
                    at=run.at(failure.site),
                    evidence=(evidence("torch refuses it: {text}", text=failure.message.partition("\n")[0]),),
                    fix="write into a copy of its own: x = x.clone() before, or repeat() instead of expand()",
                    first_step=failure.step,
                    subjects=(f"site:{failure.site}",),
                )
                return
        for found in run.numerics.aliased:
            if found.kind == "expanded" and found.times >= _LOOKS:
                yield self.finding(
                    "this assignment to a part of an expanded tensor {shape} changes all of its {copies} copies: they "
                    "share memory",
                    at=run.at(found.site),
                    evidence=(evidence("expanded here", run.at(found.made_site)),)
                    if found.made_site is not None
                    else (),
                    fix="make a copy first: x.expand(...).clone(), or x.repeat(...)",
                    first_step=found.step,
                    count=found.times,
                    subjects=(f"site:{found.site}",),
                    shape=str(tuple(found.shape)),
                    copies=found.copies,
                )
            elif found.kind == "snapshot" and found.steps >= _LOOKS:
                at = run.at(found.made_site) or run.at(found.site)
                yield self.finding(
                    "{holder} is no snapshot: it shares its memory with {name}, so it changes with every step",
                    at=at,
                    evidence=(
                        evidence(
                            "compared here with the parameter itself ({times:,} times): the difference is always 0",
                            run.at(found.site),
                            times=found.times,
                        ),
                    ),
                    fix="copy the values: p.detach().clone() (copy.deepcopy for a whole module)",
                    first_step=found.step,
                    count=found.times,
                    subjects=(f"site:{found.site}",),
                    holder=found.holder or "what is kept of an earlier step",
                    name=found.name,
                )
