"""Calls of what is not of the project: Python's builtins, torch, other libraries."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchcaliper.source.arrays import is_generator, shape_of_call
from torchcaliper.source.interpreter import Interpreter
from torchcaliper.source.items import element_of
from torchcaliper.source.layers import adopt, children, is_network, layer_type, parts
from torchcaliper.source.modes import SET_GRAD, grad_after, mode_of, set_mode
from torchcaliper.source.operations import (
    AUTOCAST,
    FRESH,
    NO_GRAD,
    PARAMETERS,
    is_class_name,
    is_layer,
    is_optimizer,
    outside,
)
from torchcaliper.source.shapes import size_of
from torchcaliper.source.tensors import operation
from torchcaliper.source.truth import truth
from torchcaliper.source.values import (
    NONE,
    Arguments,
    Class,
    Collection,
    Constant,
    Function,
    Object,
    Symbol,
    Table,
    Value,
    either,
)

#: show progress or order of what they are given, and give the same items
_PASS_ITEMS = frozenset({"tqdm", "trange", "track", "auto", "notebook", "islice", "cycle", "progress_bar"})
#: give back the network (or function) that they are given
_PASS_FIRST = frozenset(
    {"torch.compile", "torch.jit.script", "torch._dynamo.optimize", "torch.nn.SyncBatchNorm.convert_sync_batchnorm"}
)
#: outside modules whose functions take and give tensors
_OF_TENSORS = (
    "torch.nn.functional.",
    "torch.Tensor.",
    "torch.special.",
    "torch.linalg.",
    "torch.fft.",
    "torch.nn.init.",
)
#: exports that follow what the network does with an example
_EXPORTS = frozenset({"torch.jit.trace", "torch.export.export"})
_REGIONS = frozenset({*NO_GRAD, *AUTOCAST, *SET_GRAD, "torch.enable_grad", "torch.autograd.enable_grad"})
#: methods of a network that give the network back
_SELF = frozenset(
    {
        "to",
        "cuda",
        "cpu",
        "float",
        "double",
        "half",
        "bfloat16",
        "requires_grad_",
        "apply",
        "share_memory",
        "type",
        "to_empty",
        "xpu",
    }
)


def call_outside(run: Interpreter, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """The result of calling something by its full name."""
    if name.startswith("builtins."):
        handler = _BUILTINS.get(name[9:])
        if handler is not None:
            result = handler(run, arguments, node)
            if result is not None:
                return result
        return _plain(run, name, arguments, node, escapes=name[9:] not in _HARMLESS)
    last = name.rpartition(".")[2]
    if last in _PASS_ITEMS and arguments.positional and not name.startswith("torch."):
        if last == "trange":
            return run.symbol("range", node, arguments.positional)
        return arguments.positional[0]
    if name == "functools.partial" and arguments.positional:
        return _partial(run, arguments, node)
    if name in ("copy.deepcopy", "copy.copy") and arguments.positional:
        copied = copy_of(run, arguments.positional[0], node)
        return run.emit(last, node, full=name, arguments=arguments, result=copied)
    if name in _PASS_FIRST and arguments.positional:
        return run.emit(last, node, full=name, arguments=arguments, result=arguments.positional[0])
    if name in _REGIONS:
        region = Object(name, arguments, place=run.place(node))
        if name in SET_GRAD:
            # As a statement it holds until something else is set.
            run.context = run.context.but(grad=grad_after(name, arguments, run.context.grad))
        return region
    if name == "torch.nn.Parameter":
        made = run.symbol("Parameter", node, arguments.positional[:1], options=dict(arguments.keywords))
        first = arguments.positional[0] if arguments.positional else None
        made.shape = first.shape if isinstance(first, Symbol) else None
        return run.emit("Parameter", node, full=name, arguments=arguments, result=made)
    if name in ("torch.utils.checkpoint.checkpoint", "torch.utils.checkpoint.checkpoint_sequential"):
        return _checkpoint(run, name, arguments, node)
    if name.startswith("torch."):
        if is_class_name(name) and last not in FRESH and not name.startswith("torch.Tensor."):
            return _make(run, name, arguments, node)
        if (
            last in PARAMETERS
            or last in FRESH
            or name.count(".") == 1
            or name.startswith(
                (
                    "torch.nn.functional.",
                    "torch.Tensor.",
                    "torch.special.",
                    "torch.linalg.",
                    "torch.fft.",
                    "torch.nn.init.",
                )
            )
        ):
            result = operation(run, last, arguments, node)
        else:
            result = run.symbol(f"call:{last}", node, arguments.all(), by=outside(name))
        if name in _EXPORTS and arguments.positional:
            return _exported(run, last, name, arguments, result, node)
        return run.emit(last, node, full=name, arguments=arguments, result=result)
    if is_class_name(name):
        return _make(run, name, arguments, node)
    return _plain(run, name, arguments, node, escapes=not name.startswith(("numpy.", "math.", "random.", "logging.")))


def _exported(run: Interpreter, last: str, name: str, arguments: Arguments, result: Value, node: ast.AST) -> Value:
    """An export, which runs the network once, in the mode that it is in."""
    from torchcaliper.source.calling import call

    network, *given = arguments.positional
    example = given[0] if given else None
    event = run.emit(last, node, full=name, arguments=arguments, result=result, training=mode_of(network))
    if is_network(network) and isinstance(example, Symbol | Collection):
        passed = tuple(example.all()) if isinstance(example, Collection) else (example,)
        call(run, network, Arguments(passed), node)
    return event


def _plain(run: Interpreter, name: str, arguments: Arguments, node: ast.AST, escapes: bool) -> Value:
    from torchcaliper.source.calling import escape

    if escapes:
        escape(arguments)
    last = name.rpartition(".")[2]
    result = run.symbol(f"call:{last}", node, arguments.all(), by=outside(name))
    if name.startswith("numpy."):
        result.shape = shape_of_call(last, arguments)
    return run.emit(last, node, full=name, arguments=arguments, result=result)


def _measure(run: Interpreter, dataset: Value | None, node: ast.AST) -> None:
    """Ask a dataset of the project how long it is: `len(dataset)`, kept as an attribute of its own."""
    from torchcaliper.source.calling import call_method

    if not isinstance(dataset, Object) or not isinstance(dataset.type, Class) or dataset.method("__len__") is None:
        return
    recording, run.recording = run.recording, False
    try:
        length = call_method(run, dataset, "__len__", Arguments(), node)
    finally:
        run.recording = recording
    size = size_of(length)
    if isinstance(size, int):
        dataset.attributes["[length]"] = Constant(size)


def _make(run: Interpreter, name: str, arguments: Arguments, node: ast.AST) -> Value:
    result = Object(name, arguments, place=run.place(node), context=run.context)
    if name == "torch.utils.data.DataLoader":
        _measure(run, arguments.get("dataset", 0), node)
    if is_layer(name):
        adopt(result)
        if name == "torch.nn.ModuleDict" and arguments.positional and isinstance(arguments.positional[0], Table):
            for key, value in arguments.positional[0].items.items():
                result.attributes[f"[{key!r}]"] = value
    elif not name.startswith(("torch.", "numpy.", "collections.", "pathlib.")):
        from torchcaliper.source.calling import escape

        escape(arguments)
    run.emit("make", node, full=name, arguments=arguments, result=result)
    return result


def _partial(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    first = arguments.positional[0]
    rest = Arguments(arguments.positional[1:], arguments.keywords, arguments.open)
    if isinstance(first, Function) and first.partial is None:
        return Function(
            first.definition, first.scope, first.owner, first.receiver, first.decorators, rest, place=run.place(node)
        )
    return Object("functools.partial", arguments, place=run.place(node))


def _checkpoint(run: Interpreter, name: str, arguments: Arguments, node: ast.AST) -> Value:
    from torchcaliper.source.calling import call

    first = arguments.get("function", 0) or arguments.get("functions", 0)
    known = {"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "function"}
    passed = Arguments(arguments.positional[1:], {k: v for k, v in arguments.keywords.items() if k not in known})
    event_at = len(run.trace.events)
    run.emit("checkpoint", node, full=name, receiver=first, arguments=arguments, result=NONE)
    result = call(run, first, passed, node) if first is not None else run.symbol("call", node)
    if run.recording and event_at < len(run.trace.events):
        run.trace.events[event_at].result = result
    return result


def copy_of(run: Interpreter, value: Value, node: ast.AST, depth: int = 0) -> Value:
    """A deep copy: objects anew, with the same class and mode."""
    if isinstance(value, Object):
        copied = Object(value.type, value.arguments, {}, run.context, copied_from=value, place=run.place(node))
        for name, part in value.attributes.items():
            copied.attributes[name] = copy_of(run, part, node, depth + 1) if depth < 4 else part
        return copied
    if isinstance(value, Collection):
        element = None if value.element is None else copy_of(run, value.element, node, depth + 1)
        return Collection(
            value.kind, [copy_of(run, v, node, depth + 1) for v in value.items], element, place=run.place(node)
        )
    if isinstance(value, Table):
        return Table(
            {k: copy_of(run, v, node, depth + 1) for k, v in value.items.items()}, value.element, place=run.place(node)
        )
    if isinstance(value, Symbol):
        return run.symbol("deepcopy", node, (value,))
    return value


def method_of_outside(run: Interpreter, receiver: Object, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """A method that an object has from a class outside of the project."""
    full = f"{_owner(receiver)}.{name}"
    if is_network(receiver):
        return _of_network(run, receiver, name, full, arguments, node)
    if not full.startswith("torch."):
        from torchcaliper.source.calling import escape

        if not isinstance(receiver.type, str) or not full.startswith(("numpy.", "collections.", "pathlib.")):
            escape(arguments)
    if name == "step" and is_optimizer(full.rpartition(".")[0]) and isinstance(arguments.get("closure", 0), Function):
        from torchcaliper.source.calling import call

        # What the closure does happens within the step.
        call(run, arguments.get("closure", 0) or NONE, Arguments(), node)
    inputs = (*arguments.all(),) if name == "scale" else (receiver, *arguments.all())
    result = run.symbol("scale" if name == "scale" else f"call:{name}", node, inputs, by=receiver)
    if is_generator(receiver):
        result.shape = shape_of_call(name, arguments)
    return run.emit(name, node, full=full, receiver=receiver, arguments=arguments, result=result)


def _owner(receiver: Object) -> str:
    from torchcaliper.source.layers import outside_type

    return outside_type(receiver)


def _of_network(run: Interpreter, network: Object, name: str, full: str, arguments: Arguments, node: ast.AST) -> Value:
    result: Value
    before = mode_of(network)
    if name in ("train", "eval"):
        mode: Value = Constant(False)
        if name == "train":
            given = arguments.get("mode", 0)
            mode = Constant(True) if given is None else given
            known = truth(mode)
            mode = mode if known is None else Constant(known)
        set_mode(run, network, mode)
        result = network
    elif name in _SELF:
        result = network
    elif name == "forward":
        from torchcaliper.source.calling import call_object

        return call_object(run, network, arguments, node)
    elif name in ("children", "modules"):
        held = list(parts(network)) if name == "modules" else children(network)
        result = Collection("list", list(held)) if held else run.symbol(name, node, (network,))
        if name == "modules" and not isinstance(network.type, str):
            result = run.symbol(name, node, (network,))
    elif name in ("register_buffer", "register_parameter", "add_module", "register_module"):
        value = arguments.get("tensor", 1) or arguments.get("param", 1) or arguments.get("module", 1) or NONE
        key = arguments.get("name", 0)
        if name == "register_buffer" and not isinstance(value, Constant):
            held_value = run.symbol("buffer", node, (value,))
            held_value.shape = value.shape if isinstance(value, Symbol) else None
            value = held_value
        if isinstance(key, Constant):
            run.write(network.attributes, str(key.value), value)
        result = NONE
    elif name in ("append", "extend", "insert") and layer_type(network) in ("ModuleList", "Sequential"):
        held_list = network.attributes.get("[children]")
        if isinstance(held_list, Collection) and arguments.positional:
            from torchcaliper.source.containers import method_of_container

            method_of_container(run, held_list, name, arguments, node)
        result = network
    else:
        result = run.symbol(name, node, (network, *arguments.all()))
    return run.emit(name, node, full=full, receiver=network, arguments=arguments, result=result, training=before)


# Python's own.


def _range(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    return run.symbol("range", node, arguments.positional)


def _enumerate(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    if not arguments.positional:
        return NONE
    over = arguments.positional[0]
    if isinstance(over, Collection) and over.known and len(over.items) <= 4:
        return Collection(
            "list",
            [Collection("tuple", [Constant(i), item]) for i, item in enumerate(over.items)],
            place=run.place(node),
        )
    pair = Collection("tuple", [run.symbol("index", node, (over,)), element_of(run, over, node)])
    return Collection("generator", [], pair, place=run.place(node))


def _zip(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    overs = arguments.positional
    if overs and all(isinstance(o, Collection) and o.known and len(o.items) <= 8 for o in overs):
        rows = zip(*[o.items for o in overs if isinstance(o, Collection)], strict=False)
        return Collection("list", [Collection("tuple", list(row)) for row in rows], place=run.place(node))
    row = Collection("tuple", [element_of(run, over, node) for over in overs])
    return Collection("generator", [], row, place=run.place(node))


def _length(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    value = arguments.get("", 0)
    if isinstance(value, Collection) and value.known:
        return Constant(len(value.items))
    if isinstance(value, Constant) and isinstance(value.value, str):
        return Constant(len(value.value))
    return run.symbol("len", node, () if value is None else (value,))


def _listed(kind: str) -> Callable[[Interpreter, Arguments, ast.AST], Value | None]:
    def listed(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value | None:
        if not arguments.positional:
            return Collection(kind, context=run.context, place=run.place(node))
        over = arguments.positional[0]
        if isinstance(over, Collection):
            return Collection(kind, list(over.items), over.element, place=run.place(node))
        if isinstance(over, Object) and children(over) is not None:
            return Collection(kind, list(children(over) or ()), place=run.place(node))
        result = run.symbol(kind, node, (over,))
        return run.emit(kind, node, full=f"builtins.{kind}", arguments=arguments, result=result)

    return listed


def _dict(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value:
    result = Table(dict(arguments.keywords), context=run.context, place=run.place(node))
    for given in arguments.positional[:1]:
        if isinstance(given, Table):
            result.items = {**given.items, **result.items}
            result.element = given.element
        else:
            result.element = run.symbol("element", node, (given,))
    return result


def _super(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value | None:
    call = run.context.call
    if call is None or call.function.owner is None:
        return None
    receiver: Value | None = call.function.receiver
    if receiver is None and not isinstance(call.function.definition, ast.Lambda):
        spec = call.function.definition.args
        first = (*spec.posonlyargs, *spec.args)[:1]
        receiver = run.scope.names.get(first[0].arg) if first else None
    owner: Value = call.function.owner
    if arguments.positional and isinstance(arguments.positional[0], Class):
        owner = arguments.positional[0]
    return run.symbol("super", node, () if receiver is None else (receiver,), by=owner) if receiver else None


def _getattr(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value | None:
    from torchcaliper.source.attributes import get_attribute

    holder, name = arguments.get("", 0), arguments.get("", 1)
    if holder is not None and isinstance(name, Constant) and isinstance(name.value, str):
        found = get_attribute(run, holder, name.value, node)
        default = arguments.get("", 2)
        unknown = isinstance(found, Symbol) and found.op == "attribute"
        return either(found, default) if default is not None and unknown else found
    return None


def _setattr(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value | None:
    from torchcaliper.source.attributes import set_attribute

    if len(arguments.positional) == 3:
        holder, name, value = arguments.positional
        if isinstance(name, Constant) and isinstance(name.value, str):
            set_attribute(run, holder, name.value, value, node)
            return NONE
        if isinstance(holder, Object):
            # Under a name that is not known: nothing of the object can be relied on.
            holder.escaped = True
            value.escaped = True
    return None


def _next(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value | None:
    return element_of(run, arguments.positional[0], node) if arguments.positional else None


def _iter(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value | None:
    return arguments.positional[0] if len(arguments.positional) == 1 else None


def _same_items(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value | None:
    over = arguments.positional[0] if arguments.positional else None
    if isinstance(over, Collection):
        element = either(*list(over.all())[:4]) if over.items or over.element else None
        return Collection("list", [], element, place=run.place(node))
    return None


def _map(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value | None:
    from torchcaliper.source.calling import call

    if len(arguments.positional) < 2:
        return None
    function, *overs = arguments.positional
    given = Arguments(tuple(element_of(run, over, node) for over in overs))
    return Collection("generator", [], call(run, function, given, node), place=run.place(node))


def _sum(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value | None:
    over = arguments.positional[0] if arguments.positional else None
    if isinstance(over, Collection):
        return run.symbol("total", node, (over,))
    return None


def _number(name: str) -> Callable[[Interpreter, Arguments, ast.AST], Value | None]:
    def number(run: Interpreter, arguments: Arguments, node: ast.AST) -> Value | None:
        value = arguments.positional[0] if arguments.positional else None
        if isinstance(value, Constant) and isinstance(value.value, int | float):
            return Constant(_NUMBERS[name](value.value))
        if isinstance(value, Constant) and name == "float" and str(value.value).strip("+-") in ("inf", "nan"):
            return Constant(float(value.value))
        if isinstance(value, Symbol):
            # float(tensor) waits for the device, as item() does.
            result = run.symbol("item" if name in ("int", "float", "bool") else name, node, (value,))
            return run.emit(name, node, full=f"builtins.{name}", receiver=value, arguments=arguments, result=result)
        return None

    return number


_NUMBERS: dict[str, Callable[[float], float]] = {"int": int, "float": float, "bool": bool, "abs": abs}
_HARMLESS = frozenset({"print", "isinstance", "repr", "str", "id", "type", "hasattr", "len", "format", "input", "open"})
_BUILTINS: dict[str, Callable[[Interpreter, Arguments, ast.AST], Value | None]] = {
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "len": _length,
    "list": _listed("list"),
    "tuple": _listed("tuple"),
    "set": _listed("set"),
    "dict": _dict,
    "super": _super,
    "getattr": _getattr,
    "setattr": _setattr,
    "next": _next,
    "iter": _iter,
    "reversed": _same_items,
    "sorted": _same_items,
    "map": _map,
    "sum": _sum,
    "int": _number("int"),
    "float": _number("float"),
    "bool": _number("bool"),
    "abs": _number("abs"),
}
