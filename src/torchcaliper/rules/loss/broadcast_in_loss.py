"""L104: predictions and targets that are compared in all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

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


def _shape(sizes: Sequence[int]) -> str:
    return f"({', '.join(str(s) for s in sizes)}{',' if len(sizes) == 1 else ''})"
