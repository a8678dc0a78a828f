"""L111: an argmax over the whole matrix."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run


class MetricOverWrongDim(Rule):
    """`argmax` without a dimension, compared with a vector of labels.

    ## What it finds
    In an evaluation, an `argmax` over all elements of a matrix of scores, whose single index is then compared with the
    labels of all samples.

    ## Why it matters
    Nothing is raised: one number is compared with every label. The accuracy that is reported has nothing to do with
    the model.

    ## Faulty
    ```python
    accuracy = (model(x).argmax() == y).float().mean()
    ```

    ## Sound
    ```python
    accuracy = (model(x).argmax(dim=1) == y).float().mean()
    ```

    ## When it is silent
    For the argmax of one sample or of a vector, and where the index is not compared with labels.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.argmax.html
    """

    code = "L111"
    name = "metric-over-wrong-dim"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for place in run.kinds.argmaxes:
            yield self.finding(
                "argmax without dim gives one index for a matrix of {rows} x {columns}, compared with {labels} labels",
                at=run.at(place.site),
                evidence=[
                    evidence("scores of shape {shape}, labels of shape {of}", shape=place.shape, of=place.labels)
                ],
                fix="argmax(dim=1): one index for each sample",
                count=place.times,
                subjects=[f"metric:{place.site}"],
                rows=place.shape[0],
                columns=place.shape[1],
                labels=place.labels[0],
            )
