"""M105."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.layers import has_parameters, layer_type, parts
from torchcaliper.source.trace import Event, Reading
from torchcaliper.source.values import Collection, Object

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

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            repeated = {id(event.result): event for event in trace.named("repeat_list")}
            for made in trace.named("make"):
                holder = made.result
                if not isinstance(holder, Object) or layer_type(holder) not in ("Sequential", "ModuleList"):
                    continue
                held = holder.attributes.get("[children]")
                if not isinstance(held, Collection) or id(made.node) in told:
                    continue
                shared = _repeated(held, made) or _spread(made)
                if shared is None:
                    continue
                told.add(id(made.node))
                lists = [repeated[id(a)] for a in made.arguments.all() if id(a) in repeated]
                yield self.finding(
                    "one {layer} stands in the {holder} several times: all of them share one weight",
                    at=(lists[0] if lists else made).location,
                    evidence=[
                        evidence("the layer is made here, once", shared.place.location if shared.place else None)
                    ],
                    fix="make a new layer for each place: [make_layer() for _ in range(n)]",
                    layer=shared.type_name.rpartition(".")[2],
                    holder=layer_type(holder),
                )


def _repeated(held: Collection, made: Event) -> Object | None:
    """A layer with weights that is in a list more than once, and not because it is written out twice."""
    seen: set[int] = set()
    written = made.node.args if isinstance(made.node, ast.Call) else []
    by_hand = len(written) > 1 and not any(isinstance(given, ast.Starred) for given in written)
    for item in () if by_hand else held.items:
        if isinstance(item, Object) and id(item) in seen and _has_weights(item):
            return item
        seen.add(id(item))
    element, place = held.element, held.place
    if isinstance(element, Object) and element.context is not None and place is not None and _has_weights(element):
        loops = [loop.place.node for loop in element.context.loops()]
        if isinstance(place.node, ast.ListComp | ast.GeneratorExp) and place.node not in loops:
            return element
        if isinstance(place.node, ast.BinOp):
            return element
    return None


def _spread(made: Event) -> Object | None:
    """A layer that `*[layer for _ in range(n)]` puts into a call several times."""
    if not isinstance(made.node, ast.Call):
        return None
    layers = [a for a in made.arguments.all() if isinstance(a, Object) and a.context is not None and _has_weights(a)]
    for given in made.node.args:
        many = given.value if isinstance(given, ast.Starred) else None
        if not isinstance(many, ast.ListComp | ast.GeneratorExp) or not isinstance(many.elt, ast.Name):
            continue
        bound = {n.id for g in many.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        if many.elt.id not in bound and layers:
            return layers[0]
    return None


def _has_weights(layer: Object) -> bool:
    return any(has_parameters(part) and layer_type(part) != "PReLU" for part in parts(layer))
