"""M121."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run


class InitialisedAgain(Rule):
    """A special initialisation is overwritten by a general one.

    ## What it finds
    A parameter that one line of the program initialises for itself, and that a later line, which initialises many
    parameters, sets again by another function.

    ## Why it matters
    The special values (a zero output layer, an orthogonal recurrence) are lost without a word; the later rule holds.

    ## Faulty
    ```python
    nn.init.zeros_(self.out.weight)
    self.apply(init_xavier)            # sets self.out.weight again
    ```

    ## Sound
    ```python
    self.apply(init_xavier)
    nn.init.zeros_(self.out.weight)
    ```

    ## When it is silent
    The general rule comes first; both calls use the same function (another scale for some layers, as in GPT-2); torch's
    own initialisation in a layer's constructor.

    ## References
    - https://pytorch.org/docs/stable/nn.init.html
    """

    code = "M121"
    name = "initialised-again"
    severity = Severity.ADVICE

    def judge_run(self, run: Run) -> Iterator[Finding]:
        lines: dict[tuple[int | None, int | None], list[tuple[str, str, str]]] = {}
        for again in run.ledger.initialisations:
            last = len(again.calls) - 1
            for i in range(last):
                special = again.calls[i] != again.calls[last] and again.breadth[i] < again.breadth[last]
                if special and again.sites[i] != again.sites[last]:
                    entry = (again.parameter, again.calls[i], again.calls[last])
                    lines.setdefault((again.sites[i], again.sites[last]), []).append(entry)
                    break
        for (first, last_site), entries in lines.items():
            name, before, after = entries[0]
            yield self.finding(
                "{name} is set by {after} here, over what {before} gave it",
                at=run.at(last_site),
                evidence=(evidence("{before} before that", run.at(first), before=before),),
                fix="initialise in general first, and special layers after it",
                count=len(entries),
                subjects=(f"site:{last_site}",),
                name=name,
                before=before,
                after=after,
            )
