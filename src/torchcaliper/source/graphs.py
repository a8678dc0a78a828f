"""Whether a graph leads from a value back to parameters, and what cuts it on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from torchcaliper.source.layers import has_parameters, is_network, layer_type, outside_type
from torchcaliper.source.operations import CUTS, FRESH
from torchcaliper.source.values import (
    Arguments,
    Class,
    Collection,
    Constant,
    Either,
    External,
    Function,
    Module,
    Object,
    Phi,
    Symbol,
    Table,
    Value,
    constant,
)

#: results that are not differentiable, beside those that are cut on purpose
_STEPS = frozenset(
    (
        "eq ne lt le gt ge isnan isinf isfinite nonzero is is_not in not_in not multinomial bernoulli compare bincount "
        "numel size dim len range index unique count_nonzero any all isclose allclose equal sample one_hot histc"
    ).split()
)
#: copies of data into a new tensor, whatever graph the data had
_COPIES = frozenset("tensor as_tensor from_numpy new_tensor Tensor FloatTensor LongTensor array asarray".split())
#: give values and their positions
_WITH_INDICES = frozenset("topk max min sort median mode kthvalue cummax cummin".split())
#: values of which the source tells that they are data
_DATA = frozenset("batch Parameter buffer range index format len".split())


@dataclass(slots=True)
class Reach:
    """Where the ways from a value backwards end."""

    #: a recorded way leads to a parameter
    parameters: bool = False
    #: some way ends in something of which nothing is known
    unknown: bool = False
    #: what cuts ways that would lead to parameters, next to these: detach, item, a copy into a new tensor
    cuts: list[Symbol] = field(default_factory=list)
    #: operations on ways to parameters that autograd did not record
    unrecorded: list[Symbol] = field(default_factory=list)
    #: layers (by id) that a recorded way leads to, and what bars the ways to others
    layers: set[int] = field(default_factory=set)
    barred: dict[int, Symbol] = field(default_factory=dict)
    #: operations that save a tensor made under inference_mode, which autograd refuses
    from_inference: list[Symbol] = field(default_factory=list)


#: answers for the values asked last: several rules ask for the same losses
_REACHED: dict[int, tuple[Value, Reach]] = {}


def reach(value: Value | None) -> Reach:
    """Follow a value's graph back to its leaves."""
    if value is None:
        return Reach()
    known = _REACHED.get(id(value))
    if known is None:
        if len(_REACHED) > 256:
            _REACHED.clear()
        known = _REACHED[id(value)] = (value, _reach(value))
    return known[1]


def _reach(value: Value) -> Reach:
    result = Reach()
    seen: set[tuple[int, int]] = set()
    stack: list[tuple[Value | None, Symbol | None, Symbol | None]] = [(value, None, None)]
    while stack:
        item, cut, unrecorded = stack.pop()
        key = (id(item), id(cut or unrecorded))
        if item is None or key in seen:
            continue
        seen.add(key)
        if isinstance(item, Either):
            stack.extend((option, cut, unrecorded) for option in item.options)
        elif isinstance(item, Phi):
            stack.extend(((item.first, cut, unrecorded), (item.next, cut, unrecorded)))
        elif isinstance(item, Collection | Table):
            stack.extend((part, cut, unrecorded) for part in item.all())
        elif isinstance(item, Object):
            if outside_type(item).startswith(("torch.distributions.", "functools.")):
                stack.extend((part, cut, unrecorded) for part in item.arguments.all())
            elif not is_network(item) and not outside_type(item).startswith("torch."):
                result.unknown = True
        elif isinstance(item, Symbol):
            _through(item, cut, unrecorded, result, stack)
        elif not isinstance(item, Constant | External | Class | Function | Module):
            result.unknown = True
    return result


def reach_of_all(values: Iterable[Value | None]) -> Reach:
    """What the ways from several losses reach together."""
    total = Reach()
    for value in values:
        one = reach(value)
        total.parameters |= one.parameters
        total.unknown |= one.unknown
        total.layers |= one.layers
        total.barred.update(one.barred)
    return total


def _through(
    made: Symbol,
    cut: Symbol | None,
    unrecorded: Symbol | None,
    result: Reach,
    stack: list[tuple[Value | None, Symbol | None, Symbol | None]],
) -> None:
    op = made.op
    if op in CUTS or op in _COPIES or op in _STEPS or _is_index(made):
        cut = made
    elif op in FRESH:
        if constant(made.options.get("requires_grad")) is True:
            _found(result, cut, unrecorded, made)
        return
    if constant(made.options.get("requires_grad")) is True and not _leads_to_layer(made):
        _found(result, None, unrecorded, made)  # a leaf of the user's own
        return
    if made.recorded and _is_parametric(made.by):
        for part in made.inputs:
            if isinstance(part, Symbol) and not part.recorded and _under_inference(part):
                result.from_inference.append(part)
    if not made.recorded and op not in ("Parameter", "parameters") and unrecorded is None and cut is None:
        unrecorded = made
    if op in ("Parameter", "requires_grad_") or _is_parametric(made.by):
        _found(result, cut, unrecorded, made)
    elif op in ("parameter", "name", "unknown", "super", "yielded", "sent", "deleted", "matched", "entered"):
        result.unknown = True
        return
    elif op == "attribute":
        holder = made.inputs[0] if made.inputs else None
        if isinstance(holder, Object) and layer_type(holder):
            _found(result, cut, unrecorded, made)
        else:
            result.unknown = True
        return
    elif op in _DATA:
        return
    elif op == "call" or op.startswith("call:"):
        by = made.by
        name = by.name if isinstance(by, External) else outside_type(by) if isinstance(by, Object) else ""
        if name.startswith(("numpy.", "math.", "random.")):
            cut = made
        elif not name.startswith(("torch.", "builtins.", "itertools.", "functools.")):
            # A method of a tensor that is not in the list, or anything else.
            result.unknown = True
    stack.extend((part, cut, unrecorded) for part in made.inputs)
    if not isinstance(made.by, Object):
        stack.extend((part, cut, unrecorded) for part in made.options.values())


def _under_inference(made: Symbol) -> bool:
    return made.context is not None and made.context.within("torch.inference_mode") is not None


def _is_index(made: Symbol) -> bool:
    """The second result of `topk`, `max`, `sort`: positions, not values."""
    first = made.inputs[0] if made.inputs else None
    if made.op != "getitem" or not isinstance(first, Symbol) or first.op not in _WITH_INDICES:
        return False
    return constant(made.options.get("index")) in (1, -1)


def _leads_to_layer(made: Symbol) -> bool:
    inner = Reach()
    for part in made.inputs:
        one = reach(part)
        inner.parameters |= one.parameters or bool(one.cuts)
    return inner.parameters


def _found(result: Reach, cut: Symbol | None, unrecorded: Symbol | None, made: Symbol) -> None:
    if cut is not None:
        if cut not in result.cuts:
            result.cuts.append(cut)
    elif unrecorded is not None or not (made.recorded or made.op == "Parameter"):
        barrier = unrecorded or made
        if barrier not in result.unrecorded:
            result.unrecorded.append(barrier)
    else:
        result.parameters = True
        result.layers.add(id(made.by))
        return
    barrier = cut or unrecorded or made
    if isinstance(made.by, Object):
        result.barred.setdefault(id(made.by), barrier)


def _is_parametric(by: Value | None) -> bool:
    return has_parameters(by)


def holds_graph(value: Value | None) -> bool:
    """Whether a value certainly keeps a graph alive: a recorded way leads to parameters."""
    return reach(value).parameters


def pieces(value: Value | None) -> set[int]:
    """A value and what it holds (items of a tuple, sides of a branch), by id; constants left out."""
    found: set[int] = set()
    stack = [value]
    while stack:
        item = stack.pop()
        if item is None or id(item) in found or isinstance(item, Constant | External):
            continue
        found.add(id(item))
        if isinstance(item, Either):
            stack.extend(item.options)
        elif isinstance(item, Phi):
            stack.extend((item.first, item.next))
        elif isinstance(item, Collection | Table):
            stack.extend(item.all())
    return found


def depends_on(value: Value | None, sources: set[int]) -> bool:
    """Whether a value was computed from, or by, one of these values (by id), cut or not."""
    seen: set[int] = set()
    stack: list[Value | None] = [value]
    while stack:
        item = stack.pop()
        if item is None or id(item) in seen:
            continue
        if id(item) in sources:
            return True
        seen.add(id(item))
        if isinstance(item, Either):
            stack.extend(item.options)
        elif isinstance(item, Phi):
            stack.extend((item.first, item.next))
        elif isinstance(item, Collection | Table):
            stack.extend(item.all())
        elif isinstance(item, Object):
            given: Arguments = item.arguments
            stack.extend(given.all())
        elif isinstance(item, Symbol):
            if id(item.by) in sources:
                return True
            stack.extend((*item.inputs, *item.options.values()))
    return False
