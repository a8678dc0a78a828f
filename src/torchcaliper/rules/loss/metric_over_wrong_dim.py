"""L111: an argmax over the whole matrix."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.graphs import reach
from torchcaliper.source.shapes import shape_of
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Constant, Symbol, Value, options


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

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for event in reading.events("compare"):
            for one, other in (event.arguments.positional, event.arguments.positional[::-1]):
                made = next((o for o in options(one) if isinstance(o, Symbol) and o.op == "argmax"), None)
                if made is None or made.place is None or id(made.place.node) in told:
                    continue
                if not _over_everything(made) or not _is_vector(other) or not _is_batch(made.inputs[0]):
                    continue
                told.add(id(made.place.node))
                yield self.finding(
                    "argmax without dim gives one index for a matrix of scores, compared with the labels of all "
                    "samples",
                    at=made.place.location,
                    evidence=[evidence("compared here", event.location)],
                    fix="argmax(dim=1)",
                )


def _over_everything(made: Symbol) -> bool:
    given = made.options.get("dim")
    return given is None or (isinstance(given, Constant) and given.value is None)


def _is_vector(value: Value) -> bool:
    """Whether a value is one label for each of several samples."""
    shape = shape_of(value)
    return shape is not None and len(shape) == 1 and shape[0] not in (1, None)


def _is_batch(scores: Value) -> bool:
    """Whether scores are a network's, for more than one sample as far as is known."""
    shape = shape_of(scores)
    if shape is not None and (len(shape) < 2 or shape[0] == 1):
        return False
    found = reach(scores)
    return found.parameters or bool(found.unrecorded or found.cuts)
