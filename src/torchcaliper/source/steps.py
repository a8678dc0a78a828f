"""Training steps: which optimizer steps on what, what is done before and after it in the same turn of a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from torchcaliper.source.layers import is_network, plain, registered
from torchcaliper.source.operations import is_optimizer, is_scaler, is_scheduler
from torchcaliper.source.trace import Condition, Context, Event, Loop, Trace
from torchcaliper.source.values import (
    Class,
    Collection,
    Constant,
    Either,
    External,
    Function,
    Object,
    Phi,
    Symbol,
    Table,
    Value,
    options,
)

#: what gives a network's parameters, or a selection of them
_PARAMETERS = frozenset({"parameters", "named_parameters"})
_SELECTIONS = frozenset(
    {"list", "add", "key", *(f"call:{n}" for n in ("filter", "chain", "values", "items", "sorted"))}
)


def _is_a(value: Value | None, test: Callable[[str], bool]) -> bool:
    if not isinstance(value, Object):
        return False
    names = [value.type] if isinstance(value.type, str) else []
    if isinstance(value.type, Class):
        names = [parent.name for parent in value.type.lineage() if isinstance(parent, External)]
    return any(test(name) for name in names)


def is_optimizer_object(value: Value | None) -> bool:
    """Whether a value is one of torch's optimizers, or of a class that derives from one."""
    return _is_a(value, is_optimizer)


def is_scheduler_object(value: Value | None) -> bool:
    return _is_a(value, is_scheduler)


def is_scaler_object(value: Value | None) -> bool:
    return _is_a(value, is_scaler)


@dataclass(slots=True)
class Held:
    """What an optimizer (or a call that takes parameters) was given."""

    networks: list[Object] = field(default_factory=list)
    #: single parameters
    tensors: list[Symbol] = field(default_factory=list)
    #: whether all of it is known
    known: bool = True

    @property
    def parts(self) -> set[int]:
        """The networks, all that are registered in them, and the single tensors, by id."""
        found = {id(tensor) for tensor in self.tensors}
        for network in self.networks:
            found.update(id(part) for part in registered(network))
        return found

    def overlaps(self, other: Held) -> bool:
        return bool(self.parts & other.parts)


def held_by(value: Value | None) -> Held:
    """The networks whose parameters a value is made of: `net.parameters()`, groups, lists, filters of them."""
    held = Held()
    seen: set[int] = set()
    stack: list[Value | None] = [value]
    while stack:
        item = stack.pop()
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Either | Phi):
            stack.extend(options(item))
        elif isinstance(item, Collection):
            stack.extend(item.all())
        elif isinstance(item, Table):
            stack.extend([item.items["params"]] if "params" in item.items else item.all())
        elif isinstance(item, Object):
            network = plain(item)
            if isinstance(network, Object) and is_network(network):
                if network not in held.networks:
                    held.networks.append(network)
            else:
                held.known = False
        elif isinstance(item, Symbol):
            if item.op == "Parameter" or item.option("requires_grad") is True:
                held.tensors.append(item)
            elif item.op in _PARAMETERS or item.op in ("getitem", "element", "requires_grad_"):
                stack.extend(item.inputs[:1])
            elif item.op == "attribute" and item.inputs and is_network(item.inputs[0]):
                stack.append(item.inputs[0])  # a layer's weight
            elif item.op in _SELECTIONS:
                stack.extend(item.inputs)
            else:
                held.known = False
        elif not isinstance(item, Constant | Function | External):
            held.known = False  # a filter's function and None select among what is known
    if not held.networks and not held.tensors:
        held.known = False
    return held


def held_by_optimizer(optimizer: Object) -> Held:
    """What an optimizer was made with. What `add_param_group` adds later is not in it."""
    return held_by(optimizer.arguments.get("params", 0))


@dataclass(slots=True)
class Step:
    """An optimizer's step, by itself or through a gradient scaler."""

    event: Event
    optimizer: Object
    scaler: Object | None = None

    @property
    def loop(self) -> Loop | None:
        return self.event.context.loop


def steps_of(trace: Trace) -> Iterator[Step]:
    """The steps of optimizers that are known."""
    for event in trace.named("step"):
        for receiver in options(event.receiver):
            if is_optimizer_object(receiver):
                yield Step(event, receiver)  # type: ignore[arg-type]
            elif is_scaler_object(receiver):
                for stepped in options(event.arguments.get("optimizer", 0)):
                    if is_optimizer_object(stepped):
                        yield Step(event, stepped, receiver)  # type: ignore[arg-type]


def is_tensor_backward(event: Event) -> bool:
    """Whether it is `loss.backward()` or `torch.autograd.backward(loss)`."""
    return not isinstance(event.receiver, Object) and not isinstance(event.receiver, External)


def loss_of(backward: Event) -> Value | None:
    """What is differentiated."""
    return backward.receiver if backward.receiver is not None else backward.arguments.get("tensors", 0)


def backwards(trace: Trace) -> list[Event]:
    return [event for event in trace.named("backward") if is_tensor_backward(event)]


def inside(event: Event, loop: Loop) -> bool:
    """Whether something happens in a loop, however deep."""
    return any(other is loop for other in event.context.loops())


def conditions(context: Context) -> set[int]:
    """The branches in which something happens, by the condition's identity."""
    return {id(condition) for condition in context.conditions()}


def whenever(event: Event, other: Event) -> bool:
    """Whether `event` happens whenever `other` does, as far as branches decide."""
    return conditions(event.context) <= conditions(other.context)


def exclusive(one: Event, other: Event) -> bool:
    """Whether two things stand on different sides of one branch."""
    taken: dict[int, bool] = {id(c.place.node): c.taken for c in one.context.conditions()}
    return any(taken.get(id(c.place.node), c.taken) is not c.taken for c in other.context.conditions())


def clears(event: Event) -> Held | None:
    """What an event clears the gradients of; None when it clears nothing. Not known: `known` is False."""
    if event.name == "zero_grad":
        held = Held()
        for receiver in options(event.receiver):
            if is_optimizer_object(receiver):
                more = held_by_optimizer(receiver)  # type: ignore[arg-type]
            elif is_network(receiver):
                more = held_by(receiver)
            else:
                more = Held(known=False)
            held.networks += more.networks
            held.tensors += more.tensors
            held.known = held.known and more.known
        return held
    if event.name in ("set", "update") and event.attribute == "grad":
        emptied = event.name == "set" and isinstance(event.result, Constant) and event.result.value is None
        return held_by(event.receiver) if emptied else Held(known=False)
    if event.name in ("zero_", "_foreach_zero_", "fill_", "mul_", "copy_"):
        return Held(known=False) if _is_gradient(event.receiver) or event.name == "_foreach_zero_" else None
    return None


def _is_gradient(value: Value | None) -> bool:
    return any(isinstance(item, Symbol) and item.op in ("grad", "data") for item in options(value))


def is_hooked(trace: Trace) -> bool:
    """Whether functions of the program run within backward or a layer's call, where nothing tells when."""
    return any(event.name.startswith("register_") and event.name.endswith("hook") for event in trace.events)


def repeats(loop: Loop) -> bool:
    """Whether a loop's body is likely to be followed more than once."""
    over = loop.over
    if isinstance(over, Symbol) and over.op == "range" and len(over.inputs) == 1:
        count = over.inputs[0]
        return not (isinstance(count, Constant) and isinstance(count.value, int) and count.value <= 1)
    return not (isinstance(over, Collection) and over.known and len(over.items) <= 1)


def shared_condition(one: Context, other: Context) -> Condition | None:
    """The innermost branch that both stand in."""
    there = conditions(other)
    return next((c for c in one.conditions() if id(c) in there), None)
