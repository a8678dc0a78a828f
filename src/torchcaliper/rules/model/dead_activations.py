"""M113: units that are zero or saturated for every sample seen."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.run.record_numerics import Activation

#: looks that a verdict is over, and steps between the first and the last of them
_LOOKS, _STEPS = 8, 16
#: share of a layer's units. Some dead units are usual; a layer that is dead nearly throughout passes nothing on.
_SHARE = 0.9
#: samples needed for a layer that is dead throughout, and for one with a few live units: sparse codes fire rarely
_ROWS, _ROWS_IF_PARTLY = 64, 4_096
#: a layer that began with fewer dead units was killed by training
_ALIVE_AT_FIRST = 0.5


class DeadActivations(Rule):
    """Units that give zero, or the same saturated value, for every sample seen.

    ## What it finds
    A layer of which nine tenths of the units or more give exactly zero (ReLU and its kin), or a saturated value of one
    sign (tanh), for each sample of at least eight batches in different steps.

    ## Why it matters
    A ReLU that is off for all inputs passes no gradient, so it stays off. When all units of a layer are dead, the
    output is the same for every input, and only what lies behind the layer still learns. The usual causes are a
    learning rate that threw the weights far out in the first steps, biases initialised far below zero, and inputs of
    a scale far from one.

    ## Faulty
    ```python
    optimizer = torch.optim.Adam(model.parameters(), lr=0.3)
    ```

    ## Sound
    ```python
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    ```

    ## When it is silent
    Fewer than eight batches seen; a layer with some units that live (sparse codes, experts that get few samples); a
    ReLU that is part of a loss (a hinge); frozen layers; layers that no optimizer trains; what runs under
    torch.compile, where single operators are not seen.

    ## References
    * Lu et al., Dying ReLU and Initialization: Theory and Numerical Examples, 2019, arXiv:1903.06733
    * [torch.nn.ReLU](https://docs.pytorch.org/docs/stable/generated/torch.nn.ReLU.html)
    """

    code = "M113"
    name = "dead-activations"
    severity = Severity.WARNING
    explains = ("A111", "O111")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        dead = [a for a in run.numerics.activations if _is_dead(run, a)]
        by_place: dict[tuple[bool, int | None], list[Activation]] = {}
        for layer in dead:
            killed = layer.first_dead <= _ALIVE_AT_FIRST * layer.units
            owner = min(layer.optimizers) if killed else run.ledger.parameters[layer.parameter].made_site
            by_place.setdefault((killed, owner), []).append(layer)
        for (killed, _), layers in by_place.items():
            yield self._tell(run, layers, killed)

    def _tell(self, run: Run, layers: list[Activation], killed: bool) -> Finding:
        first = layers[0]
        parameter = run.ledger.parameters[first.parameter]
        facts: list[Evidence] = [
            evidence(
                "{layer}: {dead:,} of {units:,} units give {value} for all {rows:,} samples of {looks} batches "
                "(steps {first:,} to {last:,}); in the first batch it was {before:,}",
                run.at(layer.site),
                layer=run.ledger.parameters[layer.parameter].module,
                dead=layer.dead,
                units=layer.units,
                rows=layer.rows,
                looks=layer.window,
                first=layer.window_step,
                last=layer.last_step,
                before=layer.first_dead,
                value=_value(layer),
            )
            for layer in layers[:4]
        ]
        at, fix = (
            run.at(parameter.made_site),
            "look at how this layer's weights and biases are initialised and at the scale of its inputs",
        )
        optimizer = min(first.optimizers)
        if killed:
            update = next((u for u in run.numerics.updates if u.optimizer == optimizer), None)
            at = run.at(run.ledger.optimizers[optimizer].site) or at
            fix = "lower the learning rate (start it with a warm-up, clip gradients); normalise the inputs"
            if update is not None and update.ratios:
                step, ratio = max(update.ratios, key=lambda r: r[1])
                facts.append(
                    evidence(
                        "learning rate {lr:g}: at step {step:,.0f} the update was {ratio:.2g} times as large as the "
                        "weights",
                        lr=update.lr,
                        step=step,
                        ratio=ratio,
                    )
                )
            if parameter.made_site is not None:
                facts.append(evidence("the layer is made here", run.at(parameter.made_site)))
        return self.finding(
            "{layers}: {dead:,} of {units:,} units of {layer} give {value} for every sample",
            at=at,
            evidence=facts,
            fix=fix,
            first_step=min(layer.window_step for layer in layers),
            count=len(layers),
            subjects={
                *(f"parameter:{layer.parameter}" for layer in layers),
                *(f"optimizer:{o}" for layer in layers for o in layer.optimizers),
                *((f"root:{parameter.root}",) if parameter.root is not None else ()),
            },
            layers="a dead layer" if len(layers) == 1 else f"{len(layers)} dead layers",
            dead=first.dead,
            units=first.units,
            layer=parameter.module,
            value=_value(first),
        )


def _value(layer: Activation) -> str:
    return "a saturated value" if layer.function == "tanh" else "zero"


def _is_dead(run: Run, layer: Activation) -> bool:
    if layer.window < _LOOKS or layer.last_step - layer.window_step < _STEPS or layer.dead < _SHARE * layer.units:
        return False
    if layer.rows < (_ROWS if layer.dead == layer.units else _ROWS_IF_PARTLY):
        return False
    parameter = run.ledger.parameters[layer.parameter]
    return parameter.trainable and bool(layer.optimizers) and bool(parameter.optimizers)
