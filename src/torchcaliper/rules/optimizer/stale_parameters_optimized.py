"""O102."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Optimizer, Run

#: steps and backward passes looked at since the optimizer was made
STEPS = 4
#: looks at which the network in use got gradients
GRADIENTS = 3


def held(optimizer: Optimizer) -> list[int]:
    """All parameters an optimizer holds."""
    return [i for g in optimizer.groups for i in g.parameters]


def unheld(run: Run) -> dict[int, list[int]]:
    """By root: trainable parameters that get gradients, are in no optimizer and are not updated by hand."""
    found: dict[int, list[int]] = {}
    for index, p in enumerate(run.ledger.parameters):
        if p.root is None or p.optimizers or not (p.registered and p.trainable) or p.moved:
            continue
        if p.gradients >= GRADIENTS:
            found.setdefault(p.root, []).append(index)
    return found


def replaced_networks(run: Run) -> dict[int, int]:
    """Root -> optimizer: the optimizer holds another network's parameters, of the same shapes or no longer in use."""
    found = {}
    free = unheld(run)
    for number, optimizer in enumerate(run.ledger.optimizers):
        if optimizer.steps < STEPS or optimizer.looks < STEPS or optimizer.reached or not optimizer.groups:
            continue
        mine = held(optimizer)
        shapes = sorted(run.ledger.parameters[i].shape for i in mine)
        for root, indices in free.items():
            if run.ledger.roots[root].optimizers or root in found:
                continue
            same = sorted(run.ledger.parameters[i].shape for i in indices) == shapes
            if same or set(optimizer.stale) == set(mine):
                found[root] = number
    return found


class StaleParametersOptimized(Rule):
    """The optimizer holds parameters that are no longer in the model.

    ## What it finds
    An optimizer that steps on parameters which left the network after it was made (the model was built anew, a head or
    a weight was replaced), while the parameters now in their place get gradients and are in no optimizer.

    ## Why it matters
    The network in use does not learn: every step updates tensors that nothing computes with.

    ## Faulty
    ```python
    optimizer = torch.optim.Adam(model.parameters())
    model = Net(classes=12)
    ```

    ## Sound
    ```python
    model = Net(classes=12)
    optimizer = torch.optim.Adam(model.parameters())
    ```

    ## When it is silent
    A part was removed and nothing took its place; the old parameters still get gradients; the new ones are held by
    another optimizer, frozen or updated by hand; an optimizer of a finished stage.

    ## References
    - https://pytorch.org/docs/stable/optim.html#constructing-it
    """

    code = "O102"
    name = "stale-parameters-optimized"
    severity = Severity.ERROR
    explains = ("O104", "O111", "M104")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        replaced = replaced_networks(run)
        for root, number in replaced.items():
            optimizer, network = run.ledger.optimizers[number], run.ledger.roots[root]
            yield self.finding(
                "{optimizer} holds {parameters} parameters of a network that is not the one in use: "
                "none of them got a gradient "
                "in {steps:,} steps",
                at=run.at(optimizer.site),
                evidence=(
                    evidence(
                        "the {name} in use is built here; gradients reach its parameters, and no optimizer holds them",
                        run.at(network.made_site if network.made_site is not None else network.call_site),
                        name=network.name,
                    ),
                ),
                fix="make the optimizer after the network, from the parameters of the network that is called",
                subjects=(f"optimizer:{number}", f"root:{root}"),
                optimizer=optimizer.name,
                parameters=len(held(optimizer)),
                steps=optimizer.steps,
            )
        free = unheld(run)
        for number, optimizer in enumerate(run.ledger.optimizers):
            if not optimizer.stale or optimizer.steps < STEPS or not optimizer.reached or number in replaced.values():
                continue
            roots = {run.ledger.parameters[i].root for i in held(optimizer)}
            for root in sorted(r for r in roots if r is not None and r in free):
                gone = [i for i in optimizer.stale if run.ledger.parameters[i].root in (root, None)]
                if not gone:
                    continue
                new = run.ledger.parameters[free[root][0]]
                yield self.finding(
                    "{optimizer} holds {parameters} parameters that are no longer in {root}, such as {example}",
                    at=run.at(optimizer.site),
                    evidence=(
                        evidence(
                            "{name} gets gradients in its place, and no optimizer holds it",
                            run.at(new.made_site),
                            name=new.name,
                        ),
                    ),
                    fix="make the optimizer after the last change to the network",
                    subjects=(f"optimizer:{number}", f"root:{root}", *(f"parameter:{i}" for i in gone)),
                    optimizer=optimizer.name,
                    parameters=len(gone),
                    root=run.ledger.roots[root].name,
                    example=run.ledger.parameters[gone[0]].name,
                )
