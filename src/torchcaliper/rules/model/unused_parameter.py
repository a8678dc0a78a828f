"""M104."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Parameter, Run

#: steps of an optimizer that holds it, and backward passes looked at: a branch taken now and then is seen by then
STEPS, LOOKS = 10, 8


class UnusedParameter(Rule):
    """Parameters are trained by name only: no loss ever reaches them.

    ## What it finds
    Registered, trainable parameters that an optimizer holds and that got no gradient in the whole run, though others
    of the same network did: a layer that is never called, or whose output no loss uses.

    ## Why it matters
    The layer stays at its initial values. Often another layer is called in its place (`self.fc1` twice), or a result
    is computed and dropped. DistributedDataParallel stops with an error on such a network.

    ## Faulty
    ```python
    h = self.fc1(x)
    h = self.fc1(h)        # self.fc2 was meant
    ```

    ## Sound
    ```python
    h = self.fc2(self.fc1(x))
    ```

    ## When it is silent
    The run was short or did not reach its end; the part got a gradient now and then (alternating heads, thawed
    later); it is frozen, in no optimizer, run under `no_grad`, updated by hand (a moving average) or loaded from
    another network. A part that a library's class leaves unused is told as advice.

    ## References
    - https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html
    """

    code = "M104"
    name = "unused-parameter"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        if not run.complete:
            return
        parts: dict[int, dict[str, list[int]]] = {}
        for index, parameter in enumerate(run.ledger.parameters):
            if self._unused(run, parameter):
                assert parameter.root is not None
                part = parameter.unused_part or parameter.module
                parts.setdefault(parameter.root, {}).setdefault(part, []).append(index)
        for root, found in parts.items():
            first = run.ledger.parameters[next(iter(found.values()))[0]]
            indices = [i for part in found.values() for i in part]
            rest = [
                evidence("{part} got none either", run.at(run.ledger.parameters[i[0]].assigned_site), part=part)
                for part, i in list(found.items())[1:6]
            ]
            called = any(run.ledger.parameters[i].called for i in indices)
            used = (
                evidence("it is called, but no loss depends on what it returns")
                if called
                else evidence("it is never called in a training forward")
            )
            yield self.finding(
                "{part} never got a gradient in {steps:,} steps, though an optimizer holds its {parameters} parameters",
                at=run.at(first.assigned_site if first.assigned_site is not None else first.made_site),
                evidence=(used, *rest),
                fix="use it in the forward, or remove it",
                severity=Severity.ADVICE if first.library else None,
                subjects=(f"root:{root}", *(f"parameter:{i}" for i in indices)),
                part=next(iter(found)),
                steps=run.steps,
                parameters=len(indices),
            )

    @staticmethod
    def _unused(run: Run, parameter: Parameter) -> bool:
        if parameter.root is None or not run.ledger.roots[parameter.root].trained:
            return False
        by_hand = parameter.moved or parameter.loaded or parameter.called_without_grad
        if parameter.gradients or not (parameter.registered and parameter.trainable) or by_hand:
            return False
        holders = [run.ledger.optimizers[o] for o in parameter.optimizers]
        return parameter.looks >= LOOKS and any(o.steps >= STEPS and o.reached for o in holders)
