"""M103."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.layers import has_parameters, is_network_class
from torchcaliper.source.trace import Reading, Trace
from torchcaliper.source.values import Object, Symbol

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

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            for made in trace.named("make"):
                layer = made.result
                if not isinstance(layer, Object) or not has_parameters(layer) or id(made.node) in told:
                    continue
                calls = list(made.context.calls())
                inner = calls[0].function if calls else None
                if inner is None or inner.name != "forward" or not is_network_class(inner.owner):
                    continue
                if made.context.condition is not None or _is_guarded(inner.definition, made.node):
                    continue
                if made.context.grad is False or layer.escaped or _is_given_weights(trace, layer):
                    continue
                if not any(event.receiver is layer and event.context.grad is not False for event in trace.events):
                    continue
                told.add(id(made.node))
                yield self.finding(
                    "a {layer} is built anew in every forward: its weights are random each time and never learned",
                    at=made.location,
                    fix="build it once in __init__ and call it here",
                    layer=layer.type_name.rpartition(".")[2],
                )


def _is_guarded(function: ast.AST, node: ast.AST) -> bool:
    """Whether a branch decides if a node is reached: a layer that is built when it is first needed."""
    branches = (b for b in ast.walk(function) if isinstance(b, ast.If | ast.IfExp | ast.Try))
    return any(inner is node for branch in branches for inner in ast.walk(branch))


def _is_given_weights(trace: Trace, layer: Object) -> bool:
    """Whether the layer is given weights of the network's own, or frozen ones."""
    for event in trace.events:
        if event.receiver is layer and event.name in ("set", "load_state_dict", "requires_grad_", "apply"):
            return True
        receiver = event.receiver
        if isinstance(receiver, Symbol) and receiver.op in ("attribute", "data") and event.name != "grad":
            inner = receiver.inputs[0] if receiver.inputs else None
            while isinstance(inner, Symbol) and inner.op in ("attribute", "data") and inner.inputs:
                inner = inner.inputs[0]
            if inner is layer:
                return True
    return any(
        isinstance(argument, Symbol) and argument.op == "attribute" and argument.inputs and argument.inputs[0] is layer
        for event in trace.events
        if event.full.startswith("torch.nn.init.")
        for argument in event.arguments.all()
    )
