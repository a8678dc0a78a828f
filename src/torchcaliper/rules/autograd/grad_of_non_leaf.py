"""A108."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchcaliper.findings import Finding, Location, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import NonLeafRead, Run
from torchcaliper.source.graphs import holds_graph
from torchcaliper.source.operations import CUTS, FRESH
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Object, Symbol, constant, options


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

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            asked = {
                id(o)
                for e in trace.named("retain_grad", "requires_grad_", "set")
                if e.name != "set" or e.attribute == "requires_grad"
                for o in options(e.receiver)
            }
            for read in trace.named("grad"):
                if read.attribute != "grad" or id(read.node) in told:
                    continue
                for made in options(read.receiver):
                    if not isinstance(made, Symbol) or made.place is None or id(made) in asked:
                        continue
                    lost = _lost_leaf(made) is not None
                    if not lost and not _is_intermediate(made):
                        continue
                    told.add(id(read.node))
                    yield self._of_source(made.place.location, read.location, lost)

    def _of_source(self, made: Location, read: Location, lost: bool) -> Finding:
        if lost:
            return self.finding(
                "this is no leaf: the statement makes a learnable tensor and keeps only what it computes from it",
                at=made,
                evidence=[evidence(".grad is read here and is None", read)],
                fix="Compute first, then make it a leaf: (...).requires_grad_(), or nn.Parameter(tensor.to(device)).",
            )
        return self.finding(
            ".grad of an intermediate result is read: it is None, backward fills leaves only",
            at=read,
            evidence=[evidence("the tensor is computed here", made)],
            fix="call .retain_grad() on it before backward(), or use torch.autograd.grad",
        )


#: operations that give another tensor than they were given, whatever their arguments
_COMPUTES = frozenset("add sub mul truediv matmul neg pow exp sqrt view reshape transpose permute clone".split())


def _lost_leaf(made: Symbol) -> Symbol | None:
    """The learnable tensor of which one statement keeps only the result of an operation."""
    if made.op not in _COMPUTES or not made.recorded:
        return None
    for part in made.inputs:
        if (
            isinstance(part, Symbol)
            and (part.op == "Parameter" or constant(part.options.get("requires_grad")) is True)
            and part.place is not None
            and made.place is not None
            and part.place.file is made.place.file
            and _within(part, made)
        ):
            return part
    return None


def _within(part: Symbol, made: Symbol) -> bool:
    """Whether the inner tensor is written within the expression: it has no name of its own."""
    assert part.place is not None
    assert made.place is not None
    return any(node is part.place.node for node in ast.walk(made.place.node))


#: what may be a leaf, whatever it is made of
_LEAVES = FRESH | CUTS | {"grad", "Parameter", "getitem", "element", "attribute", "requires_grad_", "clone", "to"}


def _is_intermediate(made: Symbol) -> bool:
    """Whether a tensor is the output of a layer, or computed from one by a plain operation."""
    if made.op in _LEAVES or made.op.startswith("call") or not made.recorded:
        return False
    return any(holds_graph(part) for part in made.inputs) or (holds_graph(made) and isinstance(made.by, Object))
