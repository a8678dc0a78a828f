"""O101."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Evidence, Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.rules.optimizer.stale_parameters_optimized import STEPS, held, replaced_networks, unheld
from torchcaliper.run.record import Run

#: steps of a complete run after which a part left out of every optimizer is worth a word
ADVISED = 16


class ParametersNotOptimized(Rule):
    """Parameters get gradients and are in no optimizer.

    ## What it finds
    Registered, trainable parameters that gradients reach and no optimizer holds, while an optimizer trains others of
    the same network. An error where they came after it: the layer was made after the optimizer, or was frozen when a
    filter chose its parameters and thawed later. Otherwise advice: training only a head is sound, though gradients
    for the rest are computed for nothing.

    ## Why it matters
    A new head keeps its random weights, and the rest of the network learns around it.

    ## Faulty
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.head = nn.Linear(16, 12)
    ```

    ## Sound
    ```python
    model.head = nn.Linear(16, 12)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    ```

    ## When it is silent
    Frozen parameters; parameters that any optimizer held at any time (`add_param_group`, stages); values updated by
    hand (manual SGD, meta-learning); networks whose state was loaded and whose gradients nobody uses.

    ## References
    - https://pytorch.org/docs/stable/optim.html#constructing-it
    - https://pytorch.org/docs/stable/generated/torch.optim.Optimizer.add_param_group.html
    """

    code = "O101"
    name = "parameters-not-optimized"
    severity = Severity.ERROR
    explains = ("O102",)

    def judge_run(self, run: Run) -> Iterator[Finding]:
        replaced = replaced_networks(run)
        for root, indices in unheld(run).items():
            if root in replaced:
                continue
            holders = [
                o
                for o, opt in enumerate(run.ledger.optimizers)
                if opt.steps >= STEPS and opt.reached and self._of(run, o, root)
            ]
            left = indices
            if holders:
                latest = max(holders, key=lambda o: run.ledger.optimizers[o].made)
                made = run.ledger.optimizers[latest].made
                after = [i for i in indices if run.ledger.parameters[i].made > made]
                thawed = [i for i in indices if i not in after and latest in run.ledger.parameters[i].frozen_at]
                if after:
                    yield self._made_after(run, root, latest, after)
                if thawed:
                    yield self._thawed(run, root, latest, thawed)
                left = [i for i in indices if i not in after and i not in thawed]
            yield from self._left_out(run, root, left)

    @staticmethod
    def _of(run: Run, optimizer: int, root: int) -> bool:
        return any(run.ledger.parameters[i].root == root for i in held(run.ledger.optimizers[optimizer]))

    def _made_after(self, run: Run, root: int, number: int, indices: list[int]) -> Finding:
        optimizer, first = run.ledger.optimizers[number], run.ledger.parameters[indices[0]]
        return self.finding(
            "{module} was made after the optimizer: its {parameters} parameters get gradients and are never updated",
            at=run.at(first.made_site),
            evidence=(self._optimizer(run, number),),
            fix="make the optimizer after this line, or optimizer.add_param_group({{'params': {last}.parameters()}})",
            subjects=self._subjects(root, number, indices),
            module=first.module,
            last=first.module.rpartition(".")[2],
            parameters=len(indices),
            optimizer=optimizer.name,
        )

    def _thawed(self, run: Run, root: int, number: int, indices: list[int]) -> Finding:
        optimizer, first = run.ledger.optimizers[number], run.ledger.parameters[indices[0]]
        return self.finding(
            "{parameters} parameters were frozen when this {optimizer} was made, so it does not "
            "hold them; they were thawed "
            "later, get gradients and are never updated ({example}, ...)",
            at=run.at(optimizer.site),
            evidence=(evidence("no optimizer holds {module}", run.at(first.made_site), module=first.module),),
            fix="give the optimizer all parameters from the start (frozen ones get no gradient and are skipped), or "
            "optimizer.add_param_group(...) when thawing",
            subjects=self._subjects(root, number, indices),
            parameters=len(indices),
            optimizer=optimizer.name,
            example=first.name,
        )

    def _left_out(self, run: Run, root: int, indices: list[int]) -> Iterator[Finding]:
        indices = [i for i in indices if not run.ledger.parameters[i].loaded]
        stepping = [o for o, opt in enumerate(run.ledger.optimizers) if opt.steps >= ADVISED and opt.reached]
        if not indices or not stepping or not run.complete:
            return
        first, network = run.ledger.parameters[indices[0]], run.ledger.roots[root]
        yield self.finding(
            "{parameters} parameters of {root} get gradients and are in no optimizer ({example}, ...)",
            at=run.at(run.ledger.optimizers[stepping[-1]].site),
            evidence=(evidence("{root} is built here", run.at(network.made_site), root=network.name),),
            fix="hand them to the optimizer if they are to learn; if not, requires_grad_(False) saves their gradients",
            severity=Severity.ADVICE,
            subjects=(f"root:{root}", *(f"parameter:{i}" for i in indices)),
            parameters=len(indices),
            root=network.name,
            example=first.name,
        )

    @staticmethod
    def _optimizer(run: Run, number: int) -> Evidence:
        optimizer = run.ledger.optimizers[number]
        return evidence(
            "{optimizer} took its {parameters} parameters here, before that",
            run.at(optimizer.site),
            optimizer=optimizer.name,
            parameters=len(held(optimizer)),
        )

    @staticmethod
    def _subjects(root: int, optimizer: int, indices: list[int]) -> tuple[str, ...]:
        return (f"root:{root}", f"optimizer:{optimizer}", *(f"parameter:{i}" for i in indices))
