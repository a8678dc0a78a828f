"""L110: a mean of batch means."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run


class MetricAveragedUnevenly(Rule):
    """A metric that averages the means of batches of different size.

    ## What it finds
    An evaluation that adds the mean of each batch and divides by the number of batches, while the loader's last batch
    is smaller than the others.

    ## Why it matters
    A sample of the last batch counts more than the others. The figure changes with the batch size, and by several per
    cent where the last batch is small or its samples are of one kind.

    ## Faulty
    ```python
    for x, y in loader:
        scores.append((model(x).argmax(1) == y).float().mean().item())
    return sum(scores) / len(scores)
    ```

    ## Sound
    ```python
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum().item()
        count += len(y)
    return hits / count
    ```

    ## When it is silent
    Where batches are of equal size (or the last is dropped), and where each mean is weighted by its batch.

    ## References
    * https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.DataLoader
    """

    code = "L110"
    name = "metric-averaged-unevenly"
    severity = Severity.ADVICE

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for mean in run.kinds.means:
            last = mean.samples % mean.batch_size
            yield self.finding(
                "the mean over batches weighs the last one, of {last}, like the others, of {size}",
                at=run.at(mean.site),
                evidence=[
                    evidence("the means are averaged here", run.at(mean.mean_site)),
                    evidence("{n:,} samples in this loader", run.at(mean.loader_site), n=mean.samples),
                ],
                fix="add up sums and divide by the number of samples (or weight each mean by the size of its batch)",
                count=mean.times,
                subjects=[f"metric:{mean.site}"],
                last=last,
                size=mean.batch_size,
            )
