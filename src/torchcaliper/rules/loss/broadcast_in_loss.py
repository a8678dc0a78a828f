"""L104: predictions and targets that are compared in all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.graphs import reach
from torchcaliper.source.operations import PAIRWISE_LOSSES
from torchcaliper.source.shapes import shape_of
from torchcaliper.source.steps import backwards, loss_of
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Either, Object, Place, Shape, Symbol, Value

LOOKS = 2


class BroadcastInLoss(Rule):
    """Predictions of shape (N, 1) against targets of shape (N,), or the reverse.

    ## What it finds
    A loss function, or a loss written by hand, whose two operands have the shapes (N,) and (N, 1). They broadcast to
    (N, N), so that each prediction is compared with every target.

    ## Why it matters
    The mean over all pairs is smallest when every prediction is the mean of the targets. The loss falls and stops at
    the variance of the targets; the network learns a constant.

    ## Faulty
    ```python
    loss = ((model(x) - y) ** 2).mean()  # model(x): (N, 1), y: (N,)
    ```

    ## Sound
    ```python
    loss = ((model(x).squeeze(1) - y) ** 2).mean()
    ```

    ## When it is silent
    Where all pairs are meant: an axis added on purpose (`x[:, None] - y`), two network outputs, or two constants
    (distances, contrastive and ranking losses). For shapes that broadcast to nothing larger than one of them. For a
    batch of one.

    ## References
    * https://docs.pytorch.org/docs/stable/notes/broadcasting.html
    """

    code = "L104"
    name = "broadcast-in-loss"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for use in run.kinds.losses:
            if use.broadcasts >= LOOKS:
                yield self._finding(
                    run, use.site, use.name, use.input_shape, use.target_shape, use.times, use.first_step
                )
        for formula in run.kinds.broadcasts:
            if formula.in_loss >= LOOKS:
                yield self._finding(
                    run, formula.site, formula.function, formula.left, formula.right, formula.times, formula.first_step
                )

    def _finding(
        self, run: Run, site: int | None, by: str, left: Sequence[int], right: Sequence[int], times: int, first: int
    ) -> Finding:
        samples = max(left[0], right[0])
        return self.finding(
            "the loss compares all pairs: {left} against {right} broadcasts to ({n}, {n})",
            at=run.at(site),
            evidence=[
                evidence(
                    "{pairs} differences instead of {n}, made by {by}",
                    pairs=samples * samples,
                    n=samples,
                    by=by.strip("_"),
                )
            ],
            fix="give both the same shape: prediction.squeeze(1), or target.unsqueeze(1)",
            count=times,
            first_step=first,
            subjects=[f"loss:{site}"],
            left=_shape(left),
            right=_shape(right),
            n=samples,
        )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            pairs: list[tuple[Value | None, Value | None, Place]] = [
                (loss.value("input"), loss.value("target"), loss.place)
                for loss in trace.named(*PAIRWISE_LOSSES)
                if loss.context.grad is not False
            ]
            for backward in backwards(trace):
                pairs += [(d.inputs[0], d.inputs[1], d.place) for d in _differences(loss_of(backward)) if d.place]
            for left, right, place in pairs:
                found = _all_pairs(left, right)
                if found is None or id(place.node) in told:
                    continue
                told.add(id(place.node))
                yield self.finding(
                    "the loss compares all pairs: {left} against {right} broadcasts to (N, N)",
                    at=place.location,
                    evidence=[evidence("(N, 1) and (N,) are broadcast to N x N differences instead of N")],
                    fix="give both operands one shape: prediction.squeeze(1), or target.unsqueeze(1)",
                    subjects=[f"loss:{place.location}"],
                    left=_written(found[0]),
                    right=_written(found[1]),
                )


def _shape(sizes: Sequence[int]) -> str:
    return f"({', '.join(str(s) for s in sizes)}{',' if len(sizes) == 1 else ''})"


#: operations between a difference and the loss that is made of it
_OF_DIFFERENCE = frozenset("mean sum pow abs square sqrt mul truediv add neg item sub where".split())


def _differences(loss: Value | None) -> Iterator[Symbol]:
    """Subtractions from which a loss is made by hand."""
    stack, seen = [loss], 0
    while stack and seen < 40:
        item = stack.pop()
        seen += 1
        if isinstance(item, Either):
            stack.extend(item.options)
        elif isinstance(item, Symbol) and item.op in _OF_DIFFERENCE:
            if item.op == "sub" and len(item.inputs) == 2:
                yield item
            stack.extend(item.inputs)


def _all_pairs(left: Value | None, right: Value | None) -> tuple[Shape, Shape] | None:
    """The shapes of two operands of which one is a column and the other a row."""
    a, b = shape_of(left), shape_of(right)
    if a is None or b is None or {len(a), len(b)} != {1, 2}:
        return None
    column, row = (a, b) if len(a) == 2 else (b, a)
    if column[1] != 1 or column[0] in (1, None) or row[0] in (1, None):
        return None
    # One side is the network's, the other is data; an axis that is written out is meant.
    if reach(left).parameters is reach(right).parameters or _adds_axis(left) or _adds_axis(right):
        return None
    return a, b


def _adds_axis(value: Value | None) -> bool:
    if not isinstance(value, Symbol):
        return False
    if value.op == "unsqueeze" and not isinstance(value.by, Object):
        return True
    index = value.options.get("index")
    parts = getattr(index, "items", [index])
    return value.op == "getitem" and any(getattr(part, "value", 0) is None for part in parts)


def _written(shape: Shape) -> str:
    sizes = [str(size) if size == 1 else "N" for size in shape]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"
