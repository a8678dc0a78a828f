"""M103."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: training forwards in which it happened: one is a layer built when the input's size is first known
FORWARDS = 3


class LayerCreatedInForward(Rule):
    """A layer with parameters is built anew in forward().

    ## What it finds
    Modules with trainable parameters that are constructed while a training forward runs, again in each one, with new
    values each time.

    ## Why it matters
    Each call uses fresh random weights. The optimizer holds none of them (or those of a layer long gone), so the
    layer never learns and adds noise to everything before it.

    ## Faulty
    ```python
    def forward(self, x):
        return nn.Linear(x.shape[1], 10)(x)
    ```

    ## Sound
    ```python
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        return self.fc(x)
    ```

    ## When it is silent
    Modules without parameters (losses, activations), layers built once when first needed, layers whose weights are
    the network's registered ones or the same each time (a fixed filter), layers that do not require grad.

    ## References
    - https://pytorch.org/docs/stable/generated/torch.nn.Module.html
    - https://pytorch.org/docs/stable/generated/torch.nn.modules.lazy.LazyModuleMixin.html
    """

    code = "M103"
    name = "layer-created-in-forward"
    severity = Severity.ERROR
    explains = ("M101", "O101", "O102", "M104", "C107")

    def judge_run(self, run: Run) -> Iterator[Finding]:
        for built in run.ledger.built_in_forward:
            if built.steps < FORWARDS or built.constant:
                continue
            root = run.ledger.roots[built.root]
            yield self.finding(
                "{classes} is built anew in the forward of {root}: new random weights each time, which nothing trains",
                at=run.at(built.site),
                evidence=(evidence("called here", run.at(root.call_site)),) if root.call_site is not None else (),
                fix="build it once in __init__ as an attribute, and call that in forward",
                count=built.times,
                first_step=built.first_step,
                subjects=(f"root:{built.root}", f"site:{built.site}"),
                classes=", ".join(built.classes),
                root=root.name,
            )
