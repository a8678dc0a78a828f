"""O115 average-skips-buffers."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.averages import followed
from torchcaliper.source.layers import layer_option, layer_type, parts
from torchcaliper.source.steps import inside
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Object, constant

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

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            if not trace.complete:
                continue
            told: set[int] = set()
            for event in trace.named("mul_", "copy_", "lerp_", "add_", "set"):
                pair = followed(event)
                if pair is None or id(pair[0]) in told or not _beside_training(trace, event):
                    continue
                average = pair[0]
                layers = [p for p in parts(average) if _keeps_statistics(p)]
                if (
                    not layers
                    or average.escaped
                    or _buffers_follow(trace, average)
                    or not _is_evaluated(trace, average)
                ):
                    continue
                told.add(id(average))
                yield self.finding(
                    "the averaged {name} follows the parameters only: the statistics of {layers} BatchNorm layer(s) "
                    "stay at their start",
                    at=event.location,
                    fix="copy the buffers too: for a, b in zip(average.buffers(), model.buffers()): a.copy_(b)",
                    name=average.type_name.rpartition(".")[2],
                    layers=len(layers),
                )


def _beside_training(trace: Trace, event: Event) -> bool:
    """Whether it is done again and again beside the training."""
    return any(inside(b, loop) for b in trace.named("backward") for loop in event.context.loops())


def _keeps_statistics(part: Object) -> bool:
    return layer_type(part).startswith("BatchNorm") and constant(layer_option(part, "track_running_stats")) is not False


def _buffers_follow(trace: Trace, average: Object) -> bool:
    """Whether anything may bring the statistics along."""
    for event in trace.events:
        if event.name in ("buffers", "named_buffers", "state_dict", "load_state_dict", "update_bn"):
            return True
        if event.name == "enter" and event.receiver is average and event.training is not False:
            return True  # its own batches feed its statistics
        if event.attribute in ("running_mean", "running_var", "momentum"):
            return True
    return False


def _is_evaluated(trace: Trace, average: Object) -> bool:
    return any(e.receiver is average and e.training is False for e in trace.named("enter"))
