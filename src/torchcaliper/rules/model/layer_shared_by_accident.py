"""M105."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run

#: optimizer steps before a verdict: a network that is only looked at (a summary, an export) is none of our concern
STEPS = 4


class LayerSharedByAccident(Rule):
    """One layer stands several times in a container: all places share one weight.

    ## What it finds
    A module instance with parameters that is registered more than once in one `nn.Sequential`, `nn.ModuleList` or
    `nn.ModuleDict`, as `[layer] * n` makes it.

    ## Why it matters
    The network has a fraction of the parameters its text suggests; all "layers" are one and the same.

    ## Faulty
    ```python
    self.blocks = nn.ModuleList([Block(dim)] * depth)
    ```

    ## Sound
    ```python
    self.blocks = nn.ModuleList(Block(dim) for _ in range(depth))
    ```

    ## When it is silent
    Layers without parameters (a shared ReLU) or with a single number (a shared PReLU); a layer called several times
    in a loop or registered under two attributes; weights tied by assigning one to the other.

    ## References
    - https://pytorch.org/docs/stable/generated/torch.nn.ModuleList.html
    - https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.named_parameters
    """

    code = "M105"
    name = "layer-shared-by-accident"
    severity = Severity.WARNING

    def judge_run(self, run: Run) -> Iterator[Finding]:
        if run.steps < STEPS:
            return
        told: set[int | None] = set()
        for shared in run.ledger.shared_layers:
            root = run.ledger.roots[shared.root]
            if not root.trained or (shared.site is not None and shared.site in told):
                continue
            told.add(shared.site)
            yield self.finding(
                "the {times} places of {container} hold one and the same {layer}: they share its "
                "{parameters:,} parameters",
                at=run.at(shared.site),
                evidence=(
                    evidence(
                        "a {layer} of its own in each place would make {all:,} parameters",
                        layer=shared.layer_class,
                        all=shared.times * shared.parameters,
                    ),
                ),
                fix="build one for each place: nn.ModuleList(make() for _ in range(n)), or "
                "[copy.deepcopy(layer) for _ in range(n)]; where sharing is meant, keep one layer "
                "and call it in a loop",
                subjects=(f"root:{shared.root}", f"site:{shared.site}"),
                times=shared.times,
                container=shared.container,
                layer=shared.layer_class,
                parameters=shared.parameters,
            )
