"""D119: inputs and targets in different orders."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Object, Symbol, Value, options


class PairsShuffledApart(Rule):
    """Inputs and targets are shuffled independently.

    ## What it finds
    Columns of one `TensorDataset` that were put into order by different permutations, or shuffled in place one after
    the other.

    ## Why it matters
    Each input gets another one's target. The loss stays near chance, and nothing fails.

    ## Faulty
    ```python
    x, y = x[torch.randperm(len(x))], y[torch.randperm(len(y))]
    ```

    ## Sound
    ```python
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    ```

    ## When it is silent
    For one permutation of both, and for generators that are seeded alike before each.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.randperm.html
    """

    code = "D119"
    name = "pairs-shuffled-apart"
    severity = Severity.ERROR

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            for made in trace.named("make"):
                dataset = made.result
                if not isinstance(dataset, Object) or not dataset.is_a("torch.utils.data.TensorDataset"):
                    continue
                orders = [
                    order for column in dataset.arguments.positional if (order := _order(column, trace)) is not None
                ]
                different = {id(order): order for order in orders}
                if len(orders) < 2 or len(orders) != len(dataset.arguments.positional) or len(different) < 2:
                    continue
                first, *_, last = different.values()
                if last.place is None or id(last.place.node) in told or _are_seeded(trace, first, last):
                    continue
                told.add(id(last.place.node))
                yield self.finding(
                    "inputs and targets are put into different orders: each input gets another one's target",
                    at=last.place.location,
                    evidence=[evidence("the other order", first.place.location if first.place is not None else None)],
                    fix="make one permutation, and index both by it",
                )


_KEEP = frozenset("long float to tensor from_numpy as_tensor view reshape squeeze unsqueeze clone int".split())
_ORDERS = frozenset("randperm call:permutation".split())


def _order(column: Value, trace: Trace) -> Value | None:
    """The permutation that a column was indexed by, or the in-place shuffle that it went through."""
    for _ in range(12):
        item = next(iter(options(column)), None)
        shuffled = next((e for e in trace.named("shuffle") if item in e.arguments.positional), None)
        if shuffled is not None:
            return shuffled.result
        if not isinstance(item, Symbol) or not item.inputs:
            return None
        if item.op == "getitem":
            index = next(iter(options(item.options.get("index"))), None)
            if isinstance(index, Symbol) and index.op in _ORDERS:
                return index
            return None
        if item.op not in _KEEP:
            return None
        column = item.inputs[0]
    return None


def _are_seeded(trace: Trace, first: Value, last: Value) -> bool:
    """Whether both orders come from generators in one state."""
    made: list[Event] = [e for e in trace.events if e.result is first or e.result is last]
    if len(made) != 2:
        return True
    between = trace.events[made[0].index : made[1].index]
    if any(e.name in ("seed", "manual_seed", "set_state", "set_rng_state") for e in between):
        return True
    return any("generator" in e.arguments.keywords for e in made)
