"""M114: units of a hidden layer that start equal and stay equal."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_numerics import Symmetry

#: looks, and steps, over which the rows have to stay equal
_LOOKS, _STEPS = 4, 4


class SymmetricInitialisation(Rule):
    """Units of a hidden layer start equal and never come to differ.

    ## What it finds
    A weight matrix whose rows are all the same at first (a constant, zeros, ones) and still all the same after several
    steps that changed it; and a network of several layers that start at zero and get no gradient but zero.

    ## Why it matters
    Equal units get equal gradients. The layer computes one feature, however wide it is; with zeros in two layers after
    one another nothing learns but the last bias.

    ## Faulty
    ```python
    nn.init.constant_(self.hidden.weight, 0.01)
    ```

    ## Sound
    ```python
    nn.init.kaiming_normal_(self.hidden.weight)
    ```

    ## When it is silent
    Output layers, residual branches, LoRA-B and adaLN that start at zero: their rows differ after the first steps;
    biases and the gains of normalisations; frozen weights; a symmetry that dropout or unequal later weights break.

    ## References
    * [torch.nn.init](https://docs.pytorch.org/docs/stable/nn.init.html)
    * Goodfellow, Bengio and Courville, Deep Learning, section 8.4: Parameter Initialization Strategies
    """

    code = "M114"
    name = "symmetric-initialisation"
    severity = Severity.ERROR
    explains = ("A111", "O111", "M113")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        equal = [s for s in run.numerics.symmetries if _stays(run, s)]
        stuck: dict[int | None, list[Symmetry]] = {}
        by_site: dict[int | None, list[Symmetry]] = {}
        for symmetry in equal:
            if symmetry.moved and symmetry.gradient:
                by_site.setdefault(symmetry.site, []).append(symmetry)
            elif symmetry.zero and not symmetry.gradient and not symmetry.moved:
                stuck.setdefault(run.ledger.parameters[symmetry.parameter].root, []).append(symmetry)
        for group in stuck.values():
            if len(group) >= 2:  # one alone waits for the layer after it
                by_site.setdefault(group[0].site, []).extend(group)
        for site, group in by_site.items():
            first = group[0]
            parameter = run.ledger.parameters[first.parameter]
            at = run.at(site if site is not None else parameter.made_site)
            yield self.finding(
                "the {rows} units of {layer} start with the same weights and still have them {steps:,} steps later"
                if first.moved
                else "{layer} and {others} more start at zero, which leaves all of them a gradient of zero",
                at=at,
                evidence=[
                    evidence(
                        "{name} {shape}: rows equal in each of {looks} looks, "
                        + ("moved meanwhile" if s.moved else "not moved"),
                        run.at(run.ledger.parameters[s.parameter].made_site),
                        name=run.ledger.parameters[s.parameter].name,
                        shape=str(tuple(run.ledger.parameters[s.parameter].shape)),
                        looks=s.looks,
                    )
                    for s in group[:4]
                ],
                fix="draw the weights at random (kaiming_normal_, xavier_uniform_, or the layer's own default)",
                first_step=first.first_step,
                count=len(group),
                subjects={
                    *(f"parameter:{s.parameter}" for s in group),
                    *((f"root:{parameter.root}",) if parameter.root is not None else ()),
                },
                rows=first.rows,
                layer=parameter.module or parameter.name,
                steps=first.last_step - first.first_step,
                others=len(group) - 1,
            )


def _stays(run: Run, symmetry: Symmetry) -> bool:
    if symmetry.broken or symmetry.looks < _LOOKS or symmetry.last_step - symmetry.first_step < _STEPS:
        return False
    return run.ledger.parameters[symmetry.parameter].trainable and symmetry.gradients >= _LOOKS
