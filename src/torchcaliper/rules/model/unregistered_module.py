"""M101."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: optimizer steps before a verdict: by then an optimizer that takes the hidden parameters by hand has been made
STEPS = 4


class UnregisteredModule(Rule):
    """Layers kept in a plain list, dict or tuple are not part of the module.

    ## What it finds
    Layers with trainable parameters that run inside a module's forward and get gradients, but stand in a plain
    Python container (or an object) that `nn.Module` does not look into. `parameters()`, `to()`, `state_dict()`,
    `train()` and `eval()` all pass them by.

    ## Why it matters
    The optimizer never sees them, so they keep their random initial values; on a GPU they stay behind on the CPU;
    a checkpoint does not hold them. The rest of the network learns around them, so the loss still falls.

    ## Faulty
    ```python
    self.hidden = [nn.Linear(32, 32) for _ in range(3)]
    ```

    ## Sound
    ```python
    self.hidden = nn.ModuleList(nn.Linear(32, 32) for _ in range(3))
    ```

    ## When it is silent
    No parameter of theirs requires grad or gets a gradient (a frozen network put in a list to keep it out of the
    checkpoint, a teacher run under `no_grad`), an optimizer holds them, a state was loaded into them, or their values
    are updated by hand.

    ## References
    - https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html
    - https://pytorch.org/docs/stable/generated/torch.nn.ModuleDict.html
    """

    code = "M101"
    name = "unregistered-module"
    severity = Severity.ERROR
    explains = ("O101", "M104", "M102", "C107")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        if run.steps < STEPS:
            return
        for hidden in run.ledger.hidden_modules:
            if not (hidden.gradients and hidden.trainable) or hidden.optimized or hidden.moved or hidden.loaded:
                continue
            kinds = ", ".join(hidden.classes)
            made = run.at(hidden.made_site)
            proof = [
                evidence(
                    "{owner}.parameters() does not hold them: no optimizer does, though gradients reach them",
                    owner=hidden.owner,
                )
            ]
            if made is not None and made != run.at(hidden.site):
                proof.insert(0, evidence("the first of them is built here", made))
            yield self.finding(
                "{modules} layers ({kinds}) with {parameters:,} parameters stand in a plain {container}, "
                "`self.{attribute}` of {owner}, and are not registered",
                at=run.at(hidden.site) or made,
                evidence=proof,
                fix="make `self.{attribute}` an nn.{right}: parameters(), to() and state_dict() will find them",
                subjects=(f"root:{hidden.root}", f"site:{hidden.site}"),
                modules=hidden.modules,
                kinds=kinds,
                parameters=hidden.parameters,
                container=hidden.container,
                attribute=hidden.attribute,
                owner=hidden.owner,
                right="ModuleDict" if hidden.container == "dict" else "ModuleList",
            )
