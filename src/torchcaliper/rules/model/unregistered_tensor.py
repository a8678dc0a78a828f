"""M102."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.run.record import Run
from torchcaliper.source.layers import is_network
from torchcaliper.source.steps import held_by_optimizer, is_optimizer_object
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Class, Collection, Object, Symbol, Table, Value, constant

#: optimizer steps before a verdict: by then an optimizer that takes the tensor by hand has been made
STEPS = 4


class UnregisteredTensor(Rule):
    """A learnable tensor is a plain attribute, not an `nn.Parameter`.

    ## What it finds
    A tensor that requires grad, is used by the module's forward and gets gradients, but is neither an `nn.Parameter`
    attribute nor a buffer: a bare tensor, a `Parameter` in a plain list, or a `Parameter` that an operation such as
    `.to(device)` turned into an ordinary tensor.

    ## Why it matters
    `parameters()` does not list it, so no optimizer updates it; `to()` leaves it behind and `state_dict()` loses it.

    ## Faulty
    ```python
    self.cross = torch.zeros(n, n, requires_grad=True)
    self.scale = nn.Parameter(torch.ones(n)).to(device)
    ```

    ## Sound
    ```python
    self.cross = nn.Parameter(torch.zeros(n, n))
    ```

    ## When it is silent
    An optimizer holds the tensor, it is updated by hand, it is registered under another name, or no gradient reaches
    it. Constant tensors, and tensors that a forward leaves behind, are no weights.

    ## References
    - https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
    - https://pytorch.org/docs/stable/generated/torch.nn.ParameterList.html
    """

    code = "M102"
    name = "unregistered-tensor"
    severity = Severity.WARNING
    explains = ("A106",)

    def judge_run(self, run: Run) -> Iterator[Finding]:
        if run.steps < STEPS:
            return
        for hidden in run.ledger.hidden_tensors:
            if not hidden.gradients or hidden.optimized or hidden.moved:
                continue
            subjects = {f"root:{hidden.root}", f"site:{hidden.site}"}
            if not hidden.leaf:
                message = (
                    "`self.{attribute}` of {owner} was computed from a Parameter, so it is an ordinary "
                    "tensor and not registered"
                )
                fix = "build the final tensor first and wrap it last: nn.Parameter(tensor)"
                subjects.add("history")  # its graph is part of every step's
            elif hidden.count > 1 or hidden.is_parameter:
                message = "`self.{attribute}` of {owner} holds {tensors} learnable tensors that are not registered"
                fix = "keep them in an nn.ParameterList (or nn.ParameterDict)"
            else:
                message = (
                    "`self.{attribute}` of {owner} is a bare tensor of shape {shape} that requires "
                    "grad, not an nn.Parameter"
                )
                fix = "self.{attribute} = nn.Parameter(...)"
            yield self.finding(
                message,
                at=run.at(hidden.site) or run.at(run.ledger.roots[hidden.root].made_site),
                evidence=(evidence("gradients reach it, but no optimizer holds it and state_dict() does not list it"),),
                fix=fix,
                subjects=subjects,
                attribute=hidden.attribute,
                owner=hidden.owner,
                tensors=hidden.count,
                shape=tuple(hidden.shape),
            )

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        told: set[int] = set()
        for trace in reading.traces:
            for event in trace.named("set"):
                network = event.receiver
                if not isinstance(network, Object) or not is_network(network) or id(event.node) in told:
                    continue
                lost = _learnable(event.result)
                if lost is None or network.escaped or not _is_read(network, event.attribute):
                    continue
                if _is_held(trace, event.result) or _is_moved_by_hand(trace, event):
                    continue
                told.add(id(event.node))
                yield self.finding(
                    "`self.{attribute}` of {owner} is to be learned, and is {what}: no optimizer finds it in "
                    "parameters()",
                    at=event.location,
                    fix="self.{attribute} = nn.Parameter(...), of the tensor as it is to be",
                    attribute=event.attribute,
                    owner=network.type_name,
                    what=lost,
                )


#: operations that make an ordinary tensor of a Parameter
_TURNS = frozenset("to cuda cpu float double half bfloat16 mul truediv add sub neg view reshape clone".split())


def _learnable(value: Value) -> str | None:
    """What a tensor is that requires grad and is no Parameter of a module."""
    if isinstance(value, Symbol):
        if value.op != "Parameter" and constant(value.options.get("requires_grad")) is True:
            return "a bare tensor"
        if value.op in _TURNS and value.inputs:
            first, place = value.inputs[0], value.place
            if isinstance(first, Symbol) and first.op == "Parameter" and first.place is not None and place is not None:
                inner = first.place.node
                if any(node is inner for node in ast.walk(place.node)):
                    return f"no nn.Parameter any more after {value.op}"
        return None
    if isinstance(value, Collection | Table):
        parts = list(value.all())
        if parts and all(isinstance(part, Symbol) and part.op == "Parameter" for part in parts):
            return "in a plain container"
    return None


def _is_read(network: Object, attribute: str) -> bool:
    """Whether a method of the class reads the attribute."""
    if not isinstance(network.type, Class):
        return False
    return any(
        isinstance(node, ast.Attribute) and node.attr == attribute and isinstance(node.ctx, ast.Load)
        for node in ast.walk(network.type.definition)
    )


def _is_held(trace: Trace, value: Value) -> bool:
    tensors = {id(value)} | ({id(part) for part in value.all()} if isinstance(value, Collection | Table) else set())
    made = [event.result for event in trace.named("make") if is_optimizer_object(event.result)]
    return any(
        tensors & held_by_optimizer(optimizer).parts for optimizer in made if isinstance(optimizer, Object)
    ) or any(tensors & {id(a) for a in event.arguments.all()} for event in trace.named("register_parameter", "grad"))


def _is_moved_by_hand(trace: Trace, event: Event) -> bool:
    """Whether gradients of it are asked for, or read: it is updated by other means."""
    value = event.result
    return any(other.receiver is value for other in trace.named("grad", "data", "detach_"))
