"""M117."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_dependence import Regrouping, SampleMixing

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
