"""Networks that follow another one: targets, teachers, moving averages."""

from __future__ import annotations

from torchcaliper.source.layers import is_network, plain
from torchcaliper.source.steps import held_by
from torchcaliper.source.trace import Event
from torchcaliper.source.values import (
    Collection,
    Either,
    Object,
    Phi,
    Symbol,
    Table,
    Value,
    options,
)

_IN_PLACE = frozenset({"mul_", "copy_", "lerp_", "add_", "data"})


def followed(event: Event) -> tuple[Object, Object] | None:
    """An operation that moves one network's parameters towards another's, one by one: which follows which."""
    if event.context.loop is None or (event.name == "set" and event.attribute != "data"):
        return None
    receiver = event.receiver
    while isinstance(receiver, Symbol) and receiver.op in _IN_PLACE and receiver.inputs:
        receiver = receiver.inputs[0]  # p.mul_(decay).add_(q)
    own = held_by(receiver)
    if len(own.networks) != 1:
        return None
    average = own.networks[0]
    given: list[Value] = [*event.arguments.all()]
    if isinstance(event.receiver, Symbol):
        given += event.receiver.inputs[1:]
    others = [n for n in networks_in(given) if n is not average]
    return (average, others[0]) if len(others) == 1 else None


def networks_in(values: list[Value]) -> list[Object]:
    """The networks whose parameters values are computed from."""
    found: list[Object] = []
    seen: set[int] = set()
    stack = list(values)
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Either):
            stack.extend(item.options)
        elif isinstance(item, Phi):
            stack.extend(options(item))
        elif isinstance(item, Collection | Table):
            stack.extend(item.all())
        elif isinstance(item, Symbol):
            if item.op in ("parameters", "named_parameters") and item.inputs:
                network = plain(item.inputs[0])
                if isinstance(network, Object) and is_network(network) and network not in found:
                    found.append(network)
            else:
                stack.extend(item.inputs)
    return found


def state_of(value: Value) -> Object | None:
    """The network whose `state_dict()` a value is."""
    if isinstance(value, Symbol) and value.op == "state_dict" and value.inputs:
        found = plain(value.inputs[0])
        return found if isinstance(found, Object) else None
    return None
