"""M117."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_dependence import Regrouping, SampleMixing
from torchcaliper.source.layers import layer_option
from torchcaliper.source.shapes import shape_of
from torchcaliper.source.trace import Reading
from torchcaliper.source.values import Constant, Dim, Object, Shape, Size, Symbol, Value, constant

#: seen in so many steps
_TIMES = 2


class ScramblingReshape(Rule):
    """A view or reshape where axes were meant to be exchanged.

    ## What it finds
    `view` or `reshape` whose new sizes are the old ones in another order: (batch, time, channels) to
    (time, batch, channels), feature maps (batch, channels, height, width) to (batch, height * width, channels),
    attention heads put before time, logits (batch, classes, time) to rows of classes, the states of two directions
    (2, batch, features) to (batch, 2 * features).

    ## Why it matters
    A reshape keeps the elements in their order and only draws the borders anew. Each row of the result is a mixture of
    several positions, channels or samples. All shapes fit, and the network trains on scrambled data.

    ## Faulty
    ```python
    tokens = maps.view(batch, -1, channels)             # maps: (batch, channels, height, width)
    ```

    ## Sound
    ```python
    tokens = maps.flatten(2).transpose(1, 2)
    ```

    ## When it is silent
    Axes split or merged in their order (heads, windows, patches, frames folded into the batch), with the permute that
    belongs to them; axes of one size, whose exchange cannot be seen; views of parameters; tensors that were padded or
    joined before (relative positions, skewing); a view that is turned back.

    ## References
    * [torch.Tensor.view](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html)
    * [torch.permute](https://docs.pytorch.org/docs/stable/generated/torch.permute.html)
    """

    code = "M117"
    name = "scrambling-reshape"
    severity = Severity.ERROR
    explains = ("M107",)

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for made in run.dependence.regroupings:
            if made.times < _TIMES:
                continue
            mixed = [
                m
                for m in run.dependence.mixings
                if m.culprit.site == made.site and m.culprit.family == "reshape" and m.times >= _TIMES
            ]
            # Heads split off and merged with the batch look like an exchange when their size is that of the batch.
            if made.torn or not made.moves_batch or mixed:
                yield self._tell(run, made, mixed)

    def _tell(self, run: Run, made: Regrouping, mixed: list[SampleMixing]) -> Finding:
        facts = [
            evidence(
                "one sample's output depends on {reached} other samples of its batch of {samples} from here on",
                run.at(m.culprit.site),
                reached=m.reached,
                samples=m.samples,
            )
            for m in mixed[:1]
        ]
        return self.finding(
            "{operator} draws {before} as {after}: the sizes change places, the elements do not, so each row of the "
            "result mixes " + _MIXES[made.kind] + ".",
            at=run.at(made.site),
            evidence=facts,
            fix=_FIXES[made.kind],
            count=made.times,
            first_step=made.first_step,
            subjects=(f"root:{made.root}", f"site:{made.site}"),
            operator=made.operator,
            before=tuple(made.before),
            after=tuple(made.after),
        )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for event in reading.events("view", "reshape"):
            made = event.result
            if not isinstance(made, Symbol) or id(event.node) in told or not made.inputs:
                continue
            kind = _kind(made)
            if kind is None:
                continue
            told.add(id(event.node))
            yield self.finding(
                "{operator} draws the borders anew where axes change places: the elements stay in their order, so "
                "each row of the result mixes " + _MIXES[kind] + ".",
                at=event.location,
                fix=_FIXES[kind],
                subjects=[f"view:{event.location}"],
                operator=made.op,
            )


def _kind(made: Symbol) -> str | None:
    """Which axes a view exchanges that it cannot exchange; None where it does not, or where that is not known."""
    source = made.inputs[0]
    before, after = shape_of(source), made.shape
    if isinstance(source, Symbol) and _is_state_of_several(source):
        return "batch" if _has_samples_first(made) else None
    if before is None or after is None or _is_joined(source):
        return None
    if len(before) == len(after):
        return "exchanged" if _exchanges(before, after) else None
    if _leaves_its_place(before, after):
        return "exchanged"
    if len(before) == 3 and len(after) == 4:
        if _names(after[2], before, 1) and after[1] is not before[1] and after[1] != before[1]:
            return "heads" if after[0] in (before[0], None) else None
        return "exchanged" if _names(after[1], before, 2) and after[0] in (before[0], None) else None
    if len(before) == 4 and len(after) == 3:
        return "exchanged" if _names(after[2], before, 1) and after[0] in (before[0], None) else None
    if len(before) > 2 and len(after) == 2 and _names(after[1], before, 1):
        return "rows" if any(isinstance(size, int) and size > 1 for size in before[2:]) else None
    return None


def _leaves_its_place(before: Shape, after: Shape) -> bool:
    """Whether a size that is known by name has other sizes in front of it than before, and fewer behind."""
    for i, size in enumerate(before):
        if not isinstance(size, Dim) or before.count(size) != 1 or after.count(size) != 1:
            continue
        j = after.index(size)
        in_front, ahead = _without_common(before[:i], after[:j])
        behind, follow = _without_common(before[i + 1 :], after[j + 1 :])
        if None in before[:i] or None in after[:j]:
            continue
        if (in_front and not ahead and follow and not behind) or (ahead and not in_front and behind and not follow):
            return True
    return False


def _without_common(one: Shape, other: Shape) -> tuple[list[Size], list[Size]]:
    """The sizes of each that the other has not; ones left out."""
    left, right = [size for size in one if size != 1], [size for size in other if size != 1]
    for size in list(left):
        if size is not None and size in right:
            left.remove(size)
            right.remove(size)
    return left, right


def _names(size: Size, shape: Shape, axis: int) -> bool:
    """Whether a size is that of this axis, and of no other one."""
    if size is None or size == 1 or size != shape[axis]:
        return False
    return sum(1 for other in shape if other == size) == 1


def _exchanges(before: Shape, after: Shape) -> bool:
    """Whether the same sizes come in another order."""
    if None in before or None in after or 1 in before:
        return False
    if any(before.count(size) != after.count(size) for size in before):
        return False
    for i, first in enumerate(after):
        for second in after[i + 1 :]:
            there = [n for n, size in enumerate(before) if size == first]
            behind = [n for n, size in enumerate(before) if size == second]
            if first != second and min(there) > max(behind):
                return True
    return False


def _is_joined(source: Value) -> bool:
    """Whether a tensor was padded or joined just before: then another stride is what is meant."""
    for _ in range(6):
        if not isinstance(source, Symbol) or not source.inputs:
            return False
        if source.op in ("cat", "stack", "pad", "call:pad"):
            return True
        if source.op not in ("contiguous", "getitem", "view", "reshape", "clone"):
            return False
        source = source.inputs[0]
    return False


def _is_state_of_several(source: Symbol) -> bool:
    """Whether a value is the last state of a recurrent layer with several layers or directions: they stand in front."""
    first = source.inputs[0] if source.inputs else None
    if source.op != "getitem" or not isinstance(first, Symbol):
        return False
    if first.op == "getitem":
        source, first = first, first.inputs[0] if first.inputs else None
    if not isinstance(first, Symbol) or constant(source.options.get("index")) != 1:
        return False
    by = first.by
    if first.op not in ("lstm", "gru", "rnn") or not isinstance(by, Object):
        return False
    layers = constant(layer_option(by, "num_layers"), 1)
    return constant(layer_option(by, "bidirectional")) is True or (isinstance(layers, int) and layers > 1)


def _has_samples_first(made: Symbol) -> bool:
    """Whether a view asks for one row for each sample."""
    sizes = made.inputs[1:]
    if len(sizes) != 2 or not isinstance(sizes[0], Symbol) or not isinstance(sizes[1], Constant):
        return False
    asked = sizes[0]
    if asked.op == "len":
        return asked.inputs[0] is not made.inputs[0]
    if asked.op != "size" or not asked.inputs:
        return False
    return asked.inputs[0] is not made.inputs[0] or asked.option("dim") == 1


_MIXES = {
    "exchanged": "what belongs to different places",
    "heads": "steps that belong to different positions",
    "rows": "what belongs to different positions",
    "batch": "different samples",
}
_FIXES = {
    "exchanged": "exchange axes with permute() or transpose(), then flatten() or reshape() what stands side by side",
    "heads": "split first and exchange then: x.view(batch, time, heads, depth).transpose(1, 2)",
    "rows": "move that axis to the end before the rows are merged: x.movedim(1, -1).flatten(0, -2)",
    "batch": "bring the batch to the front first: h.transpose(0, 1).flatten(1)",
}
