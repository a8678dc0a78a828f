"""M101."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.layers import has_parameters, is_network, parts, registered
from torchcaliper.source.steps import held_by_optimizer, is_optimizer_object
from torchcaliper.source.trace import Reading, Trace
from torchcaliper.source.values import Class, Collection, Object, Table, Value

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

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            for event in trace.named("set"):
                network = event.receiver
                if not isinstance(network, Object) or not is_network(network) or id(event.node) in told:
                    continue
                hidden = _hidden(event.result)
                if not hidden or not event.attribute.isidentifier() or network.attributes.get(event.attribute) is None:
                    continue
                kept = {id(part) for part in registered(network)} | _held(trace)
                lost = [layer for layer in hidden if id(layer) not in kept]
                if not lost or not _is_trained(trace, lost) or _is_frozen(trace, lost):
                    continue
                told.add(id(event.node))
                kind = "dict" if isinstance(event.result, Table) else getattr(event.result, "kind", "object")
                yield self.finding(
                    "layers ({names}) stand in a plain {kind}, `self.{attribute}` of {owner}, and are not registered",
                    at=event.location,
                    evidence=[
                        evidence(
                            "parameters(), to(), state_dict() and eval() of {owner} pass them by",
                            owner=network.type_name,
                        )
                    ],
                    fix="make `self.{attribute}` an nn.{container}",
                    container="ModuleDict" if kind == "dict" else "ModuleList",
                    names=", ".join(sorted({layer.type_name.rpartition(".")[2] for layer in lost})[:3]),
                    kind=kind,
                    attribute=event.attribute,
                    owner=network.type_name,
                )


def _hidden(value: Value) -> list[Object]:
    """Layers with parameters in plain containers, which nn.Module does not look into."""
    found: list[Object] = []
    if isinstance(value, Collection | Table):
        stack: list[Value] = [*value.all()]
    elif isinstance(value, Object) and isinstance(value.type, Class) and value.type.knows_all_bases:
        stack = [] if is_network(value) else [*value.attributes.values()]
    else:
        return []
    for _ in range(200):
        if not stack:
            break
        item = stack.pop()
        if isinstance(item, Collection | Table):
            stack.extend(item.all())
        elif isinstance(item, Object) and is_network(item) and any(has_parameters(part) for part in parts(item)):
            found.append(item)
    return found


def _held(trace: Trace) -> set[int]:
    """What any optimizer of the program holds."""
    made = [event.result for event in trace.named("make") if is_optimizer_object(event.result)]
    return {part for optimizer in made if isinstance(optimizer, Object) for part in held_by_optimizer(optimizer).parts}


def _is_trained(trace: Trace, layers: list[Object]) -> bool:
    """Whether the layers run in a forward that is recorded."""
    inner = {id(part) for layer in layers for part in parts(layer)}
    return any(
        id(event.receiver) in inner
        and event.context.grad is not False
        and any(call.function.owner is not None for call in event.context.calls())
        for event in trace.events
        if event.training is not None or event.name == "enter"
    )


def _is_frozen(trace: Trace, layers: list[Object]) -> bool:
    inner = {id(part) for layer in layers for part in parts(layer)}
    return any(
        id(event.receiver) in inner and event.name in ("requires_grad_", "load_state_dict", "eval")
        for event in trace.events
    ) or any(layer.escaped for layer in layers)
