"""M108: a softmax over the samples."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

LOOKS = 2


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
