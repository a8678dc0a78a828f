"""M108: a softmax over the samples."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source import kinds
from torchcaliper.source.axes import Step, follow_axis, is_from_loader, least_rank
from torchcaliper.source.shapes import shape_of
from torchcaliper.source.trace import Event, Reading
from torchcaliper.source.values import constant

LOOKS = 2
#: losses that take (samples, classes, ...)
_OF_CLASSES = ("cross_entropy", "nll_loss")
_OF_SAMPLES = (*_OF_CLASSES, "binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "l1_loss")


class SoftmaxWrongDim(Rule):
    """A softmax that normalises over the batch.

    ## What it finds
    A softmax in the network whose dimension is that of the samples: as many entries as the batch and the targets have,
    in front, while other dimensions follow.

    ## Why it matters
    Each sample's weights depend on who else is in the batch. They sum to 1 over the samples and not over positions or
    classes; for a single sample all of them are 1.

    ## Faulty
    ```python
    weights = scores.softmax(dim=0)  # scores: (batch, positions)
    ```

    ## Sound
    ```python
    weights = scores.softmax(dim=-1)
    ```

    ## When it is silent
    For samples against samples (contrastive losses). Where samples are chosen by it (experts that pick their tokens),
    or the same scores are normalised over another dimension, too. For vectors (importance weights). Where the first
    dimension is time, nodes or anything else but the samples; for weights whose weighted sum runs over that dimension
    (attention pooling over the nodes, words or instances of one sample). Where the size of the batch is not known.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.nn.Softmax.html
    """

    code = "M108"
    name = "softmax-wrong-dim"
    severity = Severity.ERROR
    explains = ("M107", "L101")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for place in run.kinds.softmaxes:
            if place.in_loss < LOOKS or place.chosen:
                continue
            yield self.finding(
                "{function} normalises over the {samples} samples of the batch: dim {dim} of {shape}",
                at=run.at(place.site),
                evidence=[evidence("the weights of one sample depend on the other samples")],
                fix="normalise over the last dimension (dim=-1), or over the classes or positions meant",
                count=place.times,
                first_step=place.first_step,
                subjects=[f"site:{place.site}", *([f"root:{place.root}"] if place.root is not None else [])],
                function=place.function,
                samples=place.samples,
                dim=place.dim,
                shape=place.shape,
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[object] = set()
        for loss in reading.events(*_OF_SAMPLES):
            if loss.context.grad is False:
                continue
            for step in follow_axis(loss.value("input"), 0):
                made = step.value
                if made.op not in ("softmax", "log_softmax") or constant(made.options.get("dim")) != step.axis:
                    continue
                at = kinds.place_of(made)
                if at in told or not _is_over_samples(loss, step):
                    continue
                told.add(at)
                yield self.finding(
                    "{function} normalises over the samples of the batch: dim {dim}",
                    at=at,
                    evidence=[
                        evidence("this axis is the one of the samples in the loss", loss.location),
                        evidence("the weights of one sample depend on the other samples"),
                    ],
                    fix="normalise over the last dimension (dim=-1), or over the classes or positions meant",
                    subjects=[f"loss:{loss.location}"],
                    function=made.op,
                    dim=step.axis,
                )


def _is_over_samples(loss: Event, step: Step) -> bool:
    """Whether a softmax on the way to a loss, along the axis of its samples, has other axes to run over."""
    scores = step.value.inputs[0]
    shape = shape_of(scores)
    if step.summed:
        return shape is None or len(shape) > 1  # what it weighs is summed over another axis
    if least_rank(scores) < 2:
        return False
    return (step.direct and loss.name in _OF_CLASSES) or is_from_loader(scores)
