"""M107."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_dependence import SampleMixing

#: measured in so many looks, on different batches
_TIMES = 2
#: weaker than this beside the sample's own influence, it could be rounding somewhere
_STRENGTH = 1e-4


class BatchMixing(Rule):
    """The output for one sample depends on the other samples of its batch.

    ## What it finds
    A softmax or norm over the batch, a view or reshape that tears samples apart, an attention or a product between
    samples: measured on the program's own graph, by taking a gradient from the output of one sample back to the
    inputs of all. The operator at which other samples come in is named.

    ## Why it matters
    The network learns to use what it will not have: the prediction for a sample changes with whatever happens to be
    in its batch, and alone it gives something else. Usually it hardly learns at all.

    ## Faulty
    ```python
    weights = torch.softmax(scores, dim=0)      # scores: (batch, positions)
    ```

    ## Sound
    ```python
    weights = torch.softmax(scores, dim=-1)
    ```

    ## When it is silent
    BatchNorm in training mode, which mixes by design, and statistics over the batch computed by hand; losses that
    compare samples (contrastive, in-batch negatives), since only the network's output is looked at; graphs and sets,
    whose first axis is not a batch of samples; routing of tokens to experts; samples mixed by indices (mixup); where
    the first axis is time; where sizes coincide, so that the batch cannot be told from another axis; programs with
    autograd functions, hooks or compiled parts of their own.

    ## References
    * [A Recipe for Training Neural Networks: use backprop to chart dependencies](https://karpathy.github.io/2019/04/25/recipe/)
    """

    code = "M107"
    name = "batch-mixing"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for mixing in run.dependence.mixings:
            if mixing.times < _TIMES or mixing.strength < _STRENGTH or not _is_fault(mixing):
                continue
            culprit = mixing.culprit
            site = culprit.made_site if culprit.made_site is not None and culprit.layer else culprit.site
            facts = [
                evidence(
                    "the gradient of one sample's output reaches the inputs of {reached} of the other {others} samples",
                    run.at(culprit.site),
                    reached=mixing.reached,
                    others=mixing.samples - 1,
                )
            ]
            if mixing.site is not None:
                facts.append(
                    evidence("measured at this loss, in {times} steps", run.at(mixing.site), times=mixing.times)
                )
            yield self.finding(
                "A sample's output depends on other samples of its batch of {samples}: they are mixed by {operator}"
                + (" over the batch axis." if culprit.family == "softmax" else "."),
                at=run.at(site),
                evidence=facts,
                fix=_FIXES.get(culprit.family, _FIXES["product"]),
                count=mixing.times,
                first_step=mixing.first_step,
                subjects=(f"root:{mixing.root}", f"site:{culprit.site}", f"site:{site}"),
                samples=mixing.samples,
                operator=culprit.operator,
            )


_FIXES = {
    "softmax": "give it the axis over which values compete within a sample (dim=-1), not the batch",
    "reshape": "keep the batch as the first axis, and move axes by permute() or transpose() instead of a reshape",
    "product": "keep the batch axis apart in the product (bmm, or einsum with the batch index on both sides)",
}


def _is_fault(mixing: SampleMixing) -> bool:
    if mixing.culprit.family in ("softmax", "reshape", "recurrent", "attention layer"):
        return True
    # a product between rows is what a graph or a set of points is for; not so for shuffled samples
    return mixing.culprit.family in ("attention", "product") and mixing.evidence == "loader"
