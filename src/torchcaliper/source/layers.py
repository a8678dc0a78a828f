"""Networks and layers: what is one, what it consists of."""

from __future__ import annotations

from collections.abc import Iterator

from torchcaliper.source.operations import LAYERS, MODULE_BASES, is_layer
from torchcaliper.source.values import Class, Collection, Constant, External, Object, Phi, Table, Value, either, options

CONTAINERS = ("torch.nn.Sequential", "torch.nn.ModuleList")
#: wrappers that call what they were given
WRAPPERS = (
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel",
    "torch.nn.DataParallel",
    "torch.nn.parallel.DataParallel",
    "torch.distributed.fsdp.FullyShardedDataParallel",
)


def is_network_class(value: Value | None) -> bool:
    """Whether a class derives from torch.nn.Module."""
    if isinstance(value, External):
        return value.name in MODULE_BASES or is_layer(value.name)
    if isinstance(value, Class):
        return any(isinstance(p, External) and is_network_class(p) for p in value.lineage())
    return False


def is_network(value: Value | None) -> bool:
    """Whether a value is a network or a layer."""
    if not isinstance(value, Object):
        return False
    if isinstance(value.type, str):
        return value.type in MODULE_BASES or is_layer(value.type) or value.type in WRAPPERS
    return is_network_class(value.type)


def outside_type(value: Object) -> str:
    """The full name of the class from outside that an object is, or derives from."""
    if isinstance(value.type, str):
        return value.type
    for parent in value.type.lineage():
        if isinstance(parent, External):
            return parent.name
    return ""


def layer_type(value: Value | None) -> str:
    """`Linear` for a torch.nn.Linear; empty for all else (a project's class is judged by its forward)."""
    if isinstance(value, Object) and isinstance(value.type, str) and is_layer(value.type):
        return value.type.rpartition(".")[2]
    return ""


def layer_option(layer: Object, name: str) -> Value | None:
    """An argument of a torch layer's constructor, by the parameter's name."""
    kind = outside_type(layer).rpartition(".")[2]
    _, names = LAYERS.get(kind, ("", ()))
    position = names.index(name) if name in names else None
    return layer.arguments.get(name, position)


def children(value: Object) -> list[Value] | None:
    """The layers of a Sequential or ModuleList in order; None where they are not all known, or it is none."""
    held = value.attributes.get("[children]")
    if isinstance(held, Collection):
        return list(held.items) if held.known else None
    return None


def some_child(value: Object) -> Value | None:
    """What stands for the layers of a container whose number is not known."""
    held = value.attributes.get("[children]")
    if not isinstance(held, Collection):
        return None
    found = [item for item in held.all() if not isinstance(item, Constant)]
    return either(*found[:4]) if found else None


def adopt(value: Object) -> None:
    """Take the layers that a container was made with."""
    given = value.arguments
    items: Collection | None = None
    kind = outside_type(value)
    if kind == "torch.nn.Sequential":
        first = given.positional[0] if len(given.positional) == 1 else None
        if isinstance(first, Table):
            items = Collection("list", list(first.items.values()), first.element)
        elif isinstance(first, Object) and first.is_a("collections.OrderedDict"):
            items = _ordered(first)
        elif not given.open:
            items = Collection("list", list(given.positional))
    elif kind == "torch.nn.ModuleList":
        first = given.get("modules", 0)
        if first is None:
            items = Collection("list", [])
        elif isinstance(first, Collection):
            items = Collection("list", list(first.items), first.element)
    if items is not None:
        value.attributes["[children]"] = items
    elif kind in CONTAINERS:
        value.attributes["[children]"] = Collection("list", list(given.positional), Constant(None))


def _ordered(value: Object) -> Collection | None:
    first = value.arguments.get("", 0)
    if isinstance(first, Table):
        return Collection("list", list(first.items.values()), first.element)
    if isinstance(first, Collection) and first.known:
        parts = []
        for pair in first.items:
            if not (isinstance(pair, Collection) and len(pair.items) == 2):
                return None
            parts.append(pair.items[1])
        return Collection("list", parts)
    return None


def parts(network: Value | None) -> Iterator[Object]:
    """A network and all networks in it that are known, each once."""
    seen: set[int] = set()
    stack: list[Value | None] = [network]
    while stack:
        item = stack.pop()
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Object):
            if is_network(item):
                yield item
                stack.extend(item.attributes.values())
                stack.extend(item.arguments.positional if item.type in WRAPPERS else ())
        elif isinstance(item, Collection | Table):
            stack.extend(item.all())
        elif isinstance(item, Phi):
            stack.extend(options(item))


#: beginnings of the names of layers of torch that have parameters
PARAMETRIC = (
    "Linear",
    "LazyLinear",
    "Bilinear",
    "Embedding",
    "EmbeddingBag",
    "Conv",
    "LazyConv",
    "LayerNorm",
    "GroupNorm",
    "BatchNorm",
    "RMSNorm",
    "LSTM",
    "GRU",
    "RNN",
    "MultiheadAttention",
    "Transformer",
    "PReLU",
)


def has_parameters(layer: Value | None) -> bool:
    """Whether a value is a layer of torch with parameters of its own."""
    return layer_type(layer).startswith(PARAMETRIC)


def registered(network: Object) -> Iterator[Object]:
    """The networks that torch finds in a network: attributes that are modules, and these modules' own."""
    seen: set[int] = set()
    stack: list[Value | None] = [network]
    while stack:
        item = stack.pop()
        if not isinstance(item, Object) or not is_network(item) or id(item) in seen:
            continue
        seen.add(id(item))
        yield item
        for name, value in item.attributes.items():
            if name == "[children]" and isinstance(value, Collection):
                stack.extend(value.all())
            else:
                stack.extend(options(value))
        stack.extend(item.arguments.positional if item.type in WRAPPERS else ())


def plain(value: Value | None) -> Value | None:
    """A network without the wrappers (DataParallel) around it."""
    while isinstance(value, Object) and value.type in WRAPPERS and value.arguments.positional:
        value = value.arguments.positional[0]
    return value
