"""L110: a mean of batch means."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.means import BatchMean, batch_means, last_batch
from torchcaliper.source.padding import mean_over_tokens
from torchcaliper.source.trace import Reading


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

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            for found in batch_means(trace):
                place = found.added.place
                if place is None or id(place.node) in told:
                    continue
                finding = self._of_source(found)
                if finding is not None:
                    told.add(id(place.node))
                    yield finding

    def _of_source(self, found: BatchMean) -> Finding | None:
        uneven = last_batch(found.loop.over)
        at = found.added.place.location if found.added.place is not None else None
        averaged = evidence("the means are averaged here", found.at.location)
        if uneven is not None:
            return self.finding(
                "the mean over batches weighs the last one, of {last}, like the others, of {size}",
                at=at,
                evidence=[averaged],
                fix="add up sums and divide by the number of samples (or weight each mean by the size of its batch)",
                subjects=[f"metric:{at}"],
                last=uneven[0],
                size=uneven[1],
            )
        if mean_over_tokens(found.mean) is None:
            return None
        return self.finding(
            "a mean of means over tokens: a batch of few tokens weighs as much as one of many",
            at=at,
            evidence=[averaged, evidence("ignore_index leaves out another number of positions in each batch")],
            fix='reduction="sum", and one division by the number of all tokens that are no padding',
            subjects=[f"metric:{at}"],
        )
