"""O115 average-skips-buffers."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: batches the trained network's statistics must have seen that the average's have not
UPDATES = 8
#: how far the statistics must be apart (in standard deviations, or in the logarithm of the variance) to matter: below
#: a tenth a normalised activation changes by less than the noise of a batch of a hundred samples
DIFFERENCE = 0.1


class AverageSkipsBuffers(Rule):
    """An averaged copy follows the parameters only: its BatchNorm statistics stay at their initial values.

    ## What it finds

    A network that no optimizer holds, of the architecture of a trained one, whose parameters have moved towards the
    trained one's while its BatchNorm layers still have the running statistics of the start, and which is evaluated
    in evaluation mode with them.

    ## Why it matters

    `parameters()` does not yield buffers. In evaluation mode a BatchNorm layer normalises by its running mean and
    variance; with averaged weights and initial statistics (mean 0, variance 1) the averaged network computes
    something else than the one it averages, often no better than chance, and nothing fails.

    ## Faulty

    ```python
    for average, trained in zip(ema.parameters(), model.parameters()):
        average.mul_(decay).add_(trained, alpha=1 - decay)
    ```

    ## Sound

    ```python
    for average, trained in zip(ema.parameters(), model.parameters()):
        average.mul_(decay).add_(trained, alpha=1 - decay)
    for average, trained in zip(ema.buffers(), model.buffers()):
        average.copy_(trained)
    ```

    or `torch.optim.swa_utils.AveragedModel(model, use_buffers=True)`, or `update_bn(loader, averaged)` before
    evaluating.

    ## When it is silent

    When the statistics follow in any way, or hardly differ; when the copy is called in training mode only (batch
    statistics); when its parameters never moved (fixed targets, references).

    ## References

    * <https://docs.pytorch.org/docs/stable/optim.html> (Weight Averaging)
    """

    code = "O115"
    name = "average-skips-buffers"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for average in run.ledger.averages:
            if average.trained_updates < UPDATES or average.difference < DIFFERENCE:
                continue
            facts = [
                evidence(
                    "layer `{layer}`: {trained} batches entered the trained "
                    "network's statistics, {average} the average's; "
                    "they differ by {difference:.2f} standard deviations",
                    layer=average.example,
                    trained=average.trained_updates,
                    average=average.average_updates,
                    difference=average.difference,
                )
            ]
            if average.evaluation_site is not None and average.evaluation_site != average.site:
                facts.append(
                    evidence("the average is evaluated here, in evaluation mode", run.at(average.evaluation_site))
                )
            yield self.finding(
                "the averaged {name} follows the parameters only: the statistics of "
                "{layers} BatchNorm layer(s) stay at their start",
                at=run.at(average.site),
                evidence=facts,
                fix="copy the buffers too: for a, b in zip(average.buffers(), model.buffers()): a.copy_(b)",
                count=average.evaluations,
                subjects={f"root:{average.average}"},
                name=run.ledger.roots[average.average].name,
                layers=average.buffers,
            )
