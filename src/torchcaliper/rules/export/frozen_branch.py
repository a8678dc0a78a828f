"""X103: a branch that tracing keeps one side of."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.findings import Finding, Severity
from torchcaliper.rule import Rule, evidence
from torchcaliper.source.layers import is_network, plain
from torchcaliper.source.trace import Event, Reading, Trace
from torchcaliper.source.values import Class, Collection, Either, Object, Phi, Symbol, Value, options


class FrozenBranch(Rule):
    """Tracing keeps one side of a branch that depends on the data.

    ## What it finds
    A network that is exported by `torch.jit.trace`, and whose forward holds an `if` or `while` on the values of
    tensors.

    ## Why it matters
    Tracing writes down what the example made the program do. The other side of the branch is not in the graph: inputs
    that would take it are computed by the wrong one, without a message.

    ## Faulty
    ```python
    def forward(self, x):
        if x.abs().max() > 1:
            x = x / 255
        return self.net(x)

    torch.jit.trace(model, example)
    ```

    ## Sound
    ```python
    def forward(self, x):
        x = torch.where(x.abs().amax() > 1, x / 255, x)
        return self.net(x)
    ```
    or `torch.jit.script`, or the branch outside of the network.

    ## When it is silent
    For branches on sizes, modes, options and None, which are the same for every input of one shape; for networks that
    are not traced.

    ## References
    * https://docs.pytorch.org/docs/stable/generated/torch.jit.trace.html
    """

    code = "X103"
    name = "frozen-branch"
    severity = Severity.ERROR

    def judge_source(self, reading: Reading) -> Iterator[Finding]:
        for trace in reading.traces:
            told: set[int] = set()
            for event in trace.named("trace"):
                if event.full != "torch.jit.trace":
                    continue
                for option in options(event.arguments.get("func", 0)):
                    network = plain(option)
                    if not isinstance(network, Object) or not is_network(network):
                        continue
                    for branch in _branches(trace, network):
                        if id(branch.node) in told:
                            continue
                        told.add(id(branch.node))
                        yield self.finding(
                            "this branch depends on the data, and tracing keeps the side that the example takes",
                            at=branch.location,
                            evidence=[evidence("traced here", event.location)],
                            fix="torch.where for both sides, torch.jit.script, or the branch outside of the network",
                        )


def _branches(trace: Trace, network: Object) -> Iterator[Event]:
    """The branches on data in the forward of a network, and below."""
    for event in trace.named("branch"):
        inside = any(
            call.function.name == "forward" and call.function.receiver is network for call in event.context.calls()
        ) or any(
            call.function.owner is network.type and call.function.name == "forward" for call in event.context.calls()
        )
        if inside and isinstance(network.type, Class) and _is_data(event.receiver):
            yield event


#: what ends the search: properties that all inputs of one shape share
_FIXED = frozenset("shape size len dim numel attribute is is_not index range call:isinstance call:hasattr ndim".split())


def _is_data(test: Value | None) -> bool:
    """Whether a test depends on the values of tensors."""
    stack, seen = [test], 0
    while stack and seen < 60:
        item = stack.pop()
        seen += 1
        if isinstance(item, Either):
            stack.extend(item.options)
        elif isinstance(item, Phi):
            stack.extend((item.first, item.next))
        elif isinstance(item, Collection):
            stack.extend(item.all())
        elif isinstance(item, Symbol) and item.op not in _FIXED:
            if item.op in _VALUES:
                return True
            stack.extend(item.inputs)
    return False


#: reductions and comparisons of values whose result an `if` turns into a bool
_VALUES = frozenset("max min sum mean norm item any all std var amax amin argmax nonzero isnan isinf abs".split())
