"""L114: accumulated means over different numbers of targets."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.padding import made_from, mean_over_tokens
from torchcaliper.source.steps import Step, backwards, conditions, inside, loss_of, repeats, steps_of
from torchcaliper.source.trace import Condition, Event, Reading


class AccumulationNormalisation(Rule):
    """Gradient accumulation over means of micro-batches that hold different numbers of targets.

    ## What it finds
    Several `backward()` before one step, of losses that each are the mean over the targets of their own micro-batch
    which are not `ignore_index`, where the targets are sequences of different lengths, padded to one.

    ## Why it matters
    A token of a micro-batch with few tokens weighs more than one of a micro-batch with many. The gradient is not that
    of the whole batch, and long sequences are learned worse.

    ## Faulty
    ```python
    for ids, labels in window:  # padded
        loss = F.cross_entropy(model(ids).flatten(0, 1), labels.flatten(), ignore_index=-100)
        (loss / len(window)).backward()
    optimizer.step()
    ```

    ## Sound
    ```python
    tokens = sum((labels != -100).sum() for _, labels in window)
    for ids, labels in window:
        loss = F.cross_entropy(model(ids).flatten(0, 1), labels.flatten(), ignore_index=-100, reduction="sum")
        (loss / tokens).backward()
    optimizer.step()
    ```

    ## When it is silent
    For sums divided by the number of targets of the whole window; for means weighted by their number of targets; where
    it is not known that lengths differ; for one `backward()` before each step.

    ## References
    * https://huggingface.co/blog/gradient_accumulation
    """

    code = "L114"
    name = "accumulation-normalisation"
    severity = Severity.WARNING

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            steps = list(steps_of(trace))
            for backward in backwards(trace):
                loss = mean_over_tokens(loss_of(backward))
                if loss is None or id(backward.node) in told or not _accumulates(backward, steps):
                    continue
                told.add(id(backward.node))
                yield self.finding(
                    "accumulated losses are means over different numbers of targets: tokens of short sequences weigh "
                    "more than those of long ones",
                    at=backward.location,
                    evidence=[
                        evidence(
                            "the mean over the targets of one micro-batch", loss.place.location if loss.place else None
                        )
                    ],
                    fix='reduction="sum", divided by the number of targets of all micro-batches of the step',
                    subjects=[f"loss:{backward.location}"],
                )


def _accumulates(backward: Event, steps: list[Step]) -> bool:
    """Whether several turns of the loop around a backward go into one step."""
    loop = backward.context.loop
    if loop is None:
        return False
    within = [step for step in steps if inside(step.event, loop)]
    around = [step for step in steps if loop.parent is not None and step.loop is loop.parent]
    if not within:
        return bool(around) and repeats(loop)
    return all(_comes_seldom(step, backward) for step in within)


def _comes_seldom(step: Step, backward: Event) -> bool:
    """Whether a step is taken only every so many turns: `if (i + 1) % n == 0`."""
    shared = conditions(backward.context)
    own = [c for c in step.event.context.conditions() if id(c) not in shared]
    return any(_is_modulo(condition) for condition in own)


def _is_modulo(condition: Condition) -> bool:
    return any(made.op == "mod" for made in made_from(condition.test))
