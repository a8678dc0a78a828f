"""D120: the parts of a split share one dataset."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Constant, Object, Symbol, Value, options


class SharedDatasetTransform(Rule):
    """Changing one split's transform changes the other's.

    ## What it finds
    An attribute of `split.dataset` is assigned, where the split is one of several that `random_split` or `Subset` made
    of one dataset.

    ## Why it matters
    A `Subset` holds a reference to the whole dataset, not a copy. `val.dataset.transform = plain` takes the
    augmentation from the training set as well, or gives it to the validation set.

    ## Faulty
    ```python
    train, val = random_split(full, [0.8, 0.2])
    val.dataset.transform = plain
    ```

    ## Sound
    ```python
    train, val = random_split(full, [0.8, 0.2])
    val.dataset = copy.copy(full)
    val.dataset.transform = plain
    ```
    or a small dataset around each split that applies its own transform.

    ## When it is silent
    Where the split was given a dataset of its own first, and where there is one split only.

    ## References
    * https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.Subset
    """

    code = "D120"
    name = "shared-dataset-transform"
    severity = Severity.ERROR
    explains = ("D112",)

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            for event in trace.named("set"):
                split = _split_of(event.receiver)
                if split is None or event.attribute in ("[]", "") or id(split) in told:
                    continue
                source = _source(split)
                own = any(e.attribute == "dataset" and split in options(e.receiver) for e in trace.named("set"))
                if source is None or own or len(_parts(trace, source)) < 2:
                    continue
                told.add(id(split))
                told |= _parts(trace, source)
                yield self.finding(
                    "the splits share one dataset: `{attribute}` is changed for all of them",
                    at=event.location,
                    evidence=[evidence("the split", split.place.location if split.place is not None else None)],
                    fix="give the split a copy first: split.dataset = copy.copy(split.dataset)",
                    attribute=event.attribute,
                )


def _split_of(receiver: Value | None) -> Value | None:
    """The split whose `.dataset` a value is."""
    for option in options(receiver):
        if isinstance(option, Symbol) and option.op == "attribute" and option.inputs:
            name = option.options.get("name")
            if isinstance(name, Constant) and name.value == "dataset":
                return next((o for o in options(option.inputs[0]) if _source(o) is not None), None)
    return None


def _source(split: Value) -> Value | None:
    """What a split was made of: the call of random_split, or the dataset of a Subset."""
    if isinstance(split, Symbol) and split.op == "getitem" and split.inputs:
        made = split.inputs[0]
        return made if isinstance(made, Symbol) and made.op == "random_split" else None
    if isinstance(split, Object) and split.is_a("torch.utils.data.Subset"):
        return split.arguments.get("dataset", 0)
    return None


def _parts(trace: Trace, source: Value) -> set[int]:
    """The splits of one source, by id; random_split makes at least two."""
    if isinstance(source, Symbol) and source.op == "random_split":
        return {id(source), id(source) + 1}
    made: list[Event] = list(trace.named("make"))
    return {
        id(event.result)
        for event in made
        if isinstance(event.result, Object)
        and event.result.is_a("torch.utils.data.Subset")
        and event.result.arguments.get("dataset", 0) is source
    }
