"""O116: ReduceLROnPlateau looks the wrong way."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from statistics import median

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run, Scheduler
from torchcaliper.source.metrics import GROWS, sense
from torchcaliper.source.steps import is_scheduler_object
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Object, constant, options

#: metrics before their direction is judged
_MIN_METRICS = 5
#: a metric given as a loss is one when at least this many, and this share of all, equal it
_MIN_EQUAL, _EQUAL_SHARE = 3, 0.8
#: a share of right answers that rises by five points is learning; noise in a score is smaller
_RISE = 0.05
#: a share that ends above one half is hardly a share of errors of a network whose training loss falls; one that ends
#: below it must rise twice as far
_HALF, _FAR_RISE = 0.5, 0.1
#: a fall of the training loss that is no noise
_LOSS_FALL = 0.02
#: ordered pairs that agree, for metrics that are no counts
_CONCORDANCE, _MIN_TREND = 0.85, 8
#: metrics whose pairs are compared: all pairs of hundreds would take tens of milliseconds
_TREND_LENGTH = 64
#: a metric that fell by a fifth
_FALL = 0.2
#: largest number of samples that is guessed from the scores: two fractions below it are further apart than what single
#: precision blurs
_MOST_SAMPLES = 2_500


class PlateauModeReversed(Rule):
    """ReduceLROnPlateau minimises a metric that should grow, or the reverse.

    ## What it finds
    * `mode="min"` (the default) with a score: a share of right answers (times the number of samples it is a whole
      number) that rises from the start while the training loss falls;
    * `mode="max"` with a loss: the metric equals what the loss function returned, or falls together with it.

    ## Why it matters
    Every improvement counts as a bad epoch. After `patience` of them the learning rate is reduced, again and again,
    while the network is still learning: training comes to a stop early.

    ## Faulty
    ```python
    scheduler = ReduceLROnPlateau(optimizer, patience=2)
    scheduler.step(validation_accuracy)
    ```

    ## Sound
    ```python
    scheduler = ReduceLROnPlateau(optimizer, mode="max", patience=2)
    scheduler.step(validation_accuracy)
    ```

    ## When it is silent
    A validation loss that rises while the training loss falls (overfitting) under `mode="min"`; an error rate; metrics
    that say nothing yet (fewer than five, or no training loss seen beside them); scores that do not change.

    ## References
    * [ReduceLROnPlateau](https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.ReduceLROnPlateau.html)
    """

    code = "O116"
    name = "plateau-mode-reversed"
    severity = Severity.ERROR

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for index, scheduler in enumerate(run.protocol.schedulers):
            mode = scheduler.settings.get("mode")
            metrics = scheduler.metrics
            if mode not in ("min", "max") or len(metrics) < 2 or not all(map(math.isfinite, metrics)):
                continue
            is_loss = scheduler.metrics_equal_loss >= max(_MIN_EQUAL, _EQUAL_SHARE * len(metrics))
            if mode == "max" and is_loss:
                why = "the metric is a loss: it equals what the loss function returned ({equal} of {count} times)"
            elif mode == "max" and _falls_with_loss(scheduler):
                why = "the metric falls together with the training loss"
            elif mode == "min" and not is_loss and _is_rising_score(scheduler):
                why = "the metric is a score that rises while the training loss falls"
            elif mode == "min" and not is_loss and _rises_against_losses(scheduler):
                why = "the metric rises while training and evaluation loss fall"
            else:
                continue
            yield self.finding(
                "ReduceLROnPlateau looks the wrong way (mode={mode!r}): " + why + ". Every improvement counts as a bad "
                "epoch.",
                at=run.at(scheduler.site),
                evidence=_facts(run, scheduler),
                fix='ReduceLROnPlateau(..., mode="{other}")',
                count=len(metrics),
                subjects=(f"scheduler:{index}", f"site:{scheduler.site}"),
                mode=mode,
                other="min" if mode == "max" else "max",
                equal=scheduler.metrics_equal_loss,
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            for event in trace.named("step"):
                for scheduler in options(event.receiver):
                    if not isinstance(scheduler, Object) or not is_scheduler_object(scheduler):
                        continue
                    if scheduler.type_name.rpartition(".")[2] != "ReduceLROnPlateau" or id(scheduler) in told:
                        continue
                    given = scheduler.arguments.get("mode", 1)
                    mode = "min" if given is None else constant(given)
                    way = sense(event.arguments.get("metrics", 0))
                    if way is None or mode not in ("min", "max") or (mode == "max") is (way == GROWS):
                        continue
                    told.add(id(scheduler))
                    grows = way == GROWS
                    yield self.finding(
                        "ReduceLROnPlateau looks the wrong way (mode={mode!r}): it is given a {what}. Every "
                        "improvement counts as a bad epoch.",
                        at=scheduler.place.location if scheduler.place is not None else event.location,
                        evidence=[evidence("the metric is given here", event.location)],
                        fix='ReduceLROnPlateau(..., mode="{other}")',
                        mode=mode,
                        other="max" if grows else "min",
                        what="share of right answers, which grows" if grows else "loss, which falls",
                    )


def _facts(run: Run, scheduler: Scheduler) -> list[Evidence]:
    facts = [
        evidence(
            "given here: {first:.4g} at first, {last:.4g} at last",
            run.at(scheduler.step_site),
            first=scheduler.metrics[0],
            last=scheduler.metrics[-1],
        )
    ]
    losses = [v for v in scheduler.losses if v is not None]
    if len(losses) > 1:
        facts.append(evidence("training loss: {first:.4g} to {last:.4g}", first=losses[0], last=losses[-1]))
    if scheduler.lr_first is not None and scheduler.lr_last is not None and scheduler.lr_last < scheduler.lr_first:
        facts.append(
            evidence("learning rate: {first:.3g} to {last:.3g}", first=scheduler.lr_first, last=scheduler.lr_last)
        )
    return facts


def _later(values: Sequence[float]) -> float:
    return median(values[len(values) // 2 :])


def _loss_falls(values: Sequence[float | None]) -> bool:
    known = [v for v in values if v is not None and math.isfinite(v)]
    if len(known) < len(values) or len(known) < _MIN_METRICS:
        return False
    return known[0] - _later(known) > _LOSS_FALL * abs(known[0])


def _is_rising_score(scheduler: Scheduler) -> bool:
    """A share of right answers that rises from the start on, beside a falling training loss."""
    metrics = scheduler.metrics
    if len(metrics) < _MIN_METRICS or not _loss_falls(scheduler.losses):
        return False
    top = max(metrics)
    scale = 1.0 if top <= 1.0 else 100.0 if top <= 100.0 else 0.0
    if min(metrics) < 0.0 or not scale:
        return False
    shares = [m / scale for m in metrics]
    later = _later(shares)
    rises = later - shares[0] >= (_RISE if later >= _HALF else _FAR_RISE)
    if not rises or sum(s < shares[0] for s in shares[1:]) > len(shares) // 10:
        return False
    return _is_count(shares, scheduler.samples)


def _is_count(shares: Sequence[float], samples: Sequence[int]) -> bool:
    """Whether the shares are whole numbers over one number of samples."""
    distinct = sorted(set(shares))
    if len(samples) == len(shares) and len(distinct) >= 3 and all(samples):
        whole = [abs(s * n - round(s * n)) <= _slack(n) for s, n in zip(shares, samples, strict=True)]
        if all(whole):
            return True
    # An accident for one number has the chance (2 * slack) ** len(distinct); four distinct values make it safe.
    if len(distinct) < 4:
        return False
    number = math.lcm(*(Fraction(s).limit_denominator(_MOST_SAMPLES).denominator for s in distinct))
    return number <= _MOST_SAMPLES and all(abs(s * number - round(s * number)) <= _slack(number) for s in distinct)


def _slack(samples: int) -> float:
    """Rounding of a share kept in single precision."""
    return max(1e-4, 1.2e-7 * samples)


def _concordance(first: Sequence[float], second: Sequence[float]) -> float:
    """Share of pairs that move the same way in both (0.5 for unrelated values)."""
    first, second = first[:_TREND_LENGTH], second[:_TREND_LENGTH]
    agree = pairs = 0
    for j in range(len(first)):
        for i in range(j):
            change = (first[j] - first[i]) * (second[j] - second[i])
            pairs += change != 0.0
            agree += change > 0.0
    return agree / pairs if pairs else 0.5


def _falls_with_loss(scheduler: Scheduler) -> bool:
    metrics = scheduler.metrics
    losses = [v for v in scheduler.losses if v is not None]
    if len(metrics) < _MIN_TREND or len(losses) < len(metrics) or not _loss_falls(scheduler.losses):
        return False
    falls = min(metrics) > 0.0 and _later(metrics) <= (1 - _FALL) * metrics[0]
    return falls and _concordance(metrics, losses) >= _CONCORDANCE


def _rises_against_losses(scheduler: Scheduler) -> bool:
    metrics = scheduler.metrics
    evaluation = [v for v in scheduler.evaluation_losses if v is not None]
    if len(metrics) < _MIN_TREND or len(evaluation) < len(metrics):
        return False
    if not (_loss_falls(scheduler.losses) and _loss_falls(evaluation)):
        return False
    return _later(metrics) > metrics[0] and _concordance(metrics, evaluation) <= 1 - _CONCORDANCE
