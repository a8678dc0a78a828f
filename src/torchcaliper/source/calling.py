"""Calls: functions and classes of the project are followed, what comes from outside is looked up by its name."""

from __future__ import annotations

import ast
from typing import Any

from torchcaliper.source.arrays import is_generator, shape_of_call
from torchcaliper.source.attributes import bound, get_attribute
from torchcaliper.source.interpreter import MANY_STEPS, MAX_DEPTH, MAX_VISITS, Frame, Interpreter
from torchcaliper.source.layers import WRAPPERS, adopt, children, is_network, outside_type, plain, some_child
from torchcaliper.source.modes import decorated, mode_of
from torchcaliper.source.operations import TENSOR_METHODS, is_layer
from torchcaliper.source.outside import call_outside, method_of_outside
from torchcaliper.source.scope import Scope
from torchcaliper.source.tensors import layer_call, operation
from torchcaliper.source.trace import Call
from torchcaliper.source.values import (
    NONE,
    Arguments,
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
    either,
)


def call(run: Interpreter, called: Value, arguments: Arguments, node: ast.AST) -> Value:
    """`called(*arguments)`."""
    if isinstance(called, Function):
        return call_function(run, called, arguments, node)
    if isinstance(called, External):
        return call_outside(run, called.name, arguments, node)
    if isinstance(called, Class):
        return make(run, called, arguments, node)
    if isinstance(called, Object):
        return call_object(run, called, arguments, node)
    if isinstance(called, Either):
        results: list[Value] = []
        for option in called.options[:3]:
            results.append(call(run, option, arguments, node))
        return either(*results)
    if isinstance(called, Phi) and not isinstance(called.first, Constant):
        return call(run, called.first, arguments, node)
    escape(arguments)
    result = run.symbol("call", node, (called, *arguments.all()), by=called)
    return run.emit("call", node, receiver=called, arguments=arguments, result=result)


def call_method(run: Interpreter, receiver: Value, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`receiver.name(*arguments)`."""
    if isinstance(receiver, External):
        return call(run, get_attribute(run, receiver, name, node), arguments, node)
    if isinstance(receiver, Either):
        return either(*[call_method(run, option, name, arguments, node) for option in receiver.options[:3]])
    if isinstance(receiver, Phi) and not isinstance(receiver.first, Symbol | Constant):
        return call_method(run, receiver.first, name, arguments, node)
    if isinstance(receiver, Object):
        own = receiver.attributes.get(name)
        if own is None:
            found = receiver.method(name)
            own = bound(run, found, receiver, node) if found is not None else None
        if own is not None:
            if isinstance(own, Function) and own.receiver is receiver and name == "forward" and is_network(receiver):
                return _forward(run, receiver, own, arguments, node, full="forward")
            return call(run, own, arguments, node)
        return method_of_outside(run, receiver, name, arguments, node)
    if isinstance(receiver, Collection | Table | Constant):
        from torchcaliper.source.containers import method_of_container

        return method_of_container(run, receiver, name, arguments, node)
    if isinstance(receiver, Symbol | Phi):
        if isinstance(receiver, Symbol) and receiver.op == "super":
            return _super(run, receiver, name, arguments, node)
        if name in TENSOR_METHODS:
            result = operation(run, name, Arguments((receiver, *arguments.positional), arguments.keywords), node)
            full = f"torch.Tensor.{name}"
        else:
            result = run.symbol("call", node, (receiver, *arguments.all()), by=receiver)
            result.op = f"call:{name}"
            if is_generator(receiver):
                result.shape = shape_of_call(name, arguments)
            elif name in ("astype", "copy") and isinstance(receiver, Symbol):
                result.shape = receiver.shape
            full = ""
            escape(arguments)
        return run.emit(name, node, full=full, receiver=receiver, arguments=arguments, result=result)
    return call(run, get_attribute(run, receiver, name, node), arguments, node)


def escape(arguments: Arguments) -> None:
    """Unknown code was given these: what it does with them is not known."""
    stack: list[Value] = [*arguments.positional, *arguments.keywords.values()]
    seen: set[int] = set()
    while stack:
        value = stack.pop()
        if isinstance(value, Constant | External):
            continue
        value.escaped = True
        if isinstance(value, Object | Collection | Table) and id(value) not in seen:
            seen.add(id(value))
            stack.extend(value.attributes.values() if isinstance(value, Object) else value.all())


def call_function(run: Interpreter, function: Function, arguments: Arguments, node: ast.AST) -> Value:
    """Follow a function of the project with these arguments."""
    if function.partial is not None:
        arguments = Arguments(
            (*function.partial.positional, *arguments.positional),
            {**function.partial.keywords, **arguments.keywords},
            function.partial.open or arguments.open,
        )
    definition = function.definition
    context = run.context
    same = 0
    caller = context.call
    while caller is not None:
        same += caller.function.definition is definition
        caller = caller.parent
    if same >= 2 or (context.call is not None and context.call.depth >= MAX_DEPTH):
        escape(arguments)
        return run.symbol("call", node, arguments.all(), by=function)
    visits = run.visits.get(id(definition), 0) + 1
    if context.call is not None and run.steps > (MANY_STEPS if visits > MAX_VISITS else run.calls_until):
        return _unfollowed(run, function, arguments, node)
    run.step()
    run.entered.add(id(definition))
    run.visits[id(definition)] = visits
    scope = Scope(function.scope.file, function.scope)
    outer = run.scope, run.frame, run.context, run.file
    if function.decorators:
        run.context = decorated(run, function)
    run.context = run.context.but(call=Call(function, run.place(node), context.call))
    run.file, run.scope, run.frame = scope.file, scope, Frame()
    try:
        _bind(run, function, arguments, node)
        if isinstance(definition, ast.Lambda):
            from torchcaliper.source.expressions import evaluate

            return evaluate(run, definition.body)
        from torchcaliper.source.statements import follow

        follow(run, definition.body)
        frame = run.frame
        if frame.yields:
            return Collection("generator", [], either(*frame.yields), place=run.place(definition))
        if frame.ended != "return" and frame.returns and frame.ended != "raise":
            return either(*frame.returns, NONE)
        return either(*frame.returns) if frame.returns else NONE
    finally:
        run.scope, run.frame, run.context, run.file = outer


def _unfollowed(run: Interpreter, function: Function, arguments: Arguments, node: ast.AST) -> Value:
    """What calling a function leaves behind that there is no time to follow: it may have done anything."""
    run.trace.complete = False
    escape(arguments)
    if function.receiver is not None:
        escape(Arguments((function.receiver,)))
    result = run.symbol("call", node, arguments.all(), by=function)
    return run.emit("call", node, receiver=function, arguments=arguments, result=result)


def _bind(run: Interpreter, function: Function, arguments: Arguments, node: ast.AST) -> None:
    spec = function.definition.args
    names = [p.arg for p in (*spec.posonlyargs, *spec.args)]
    given = list(arguments.positional)
    if function.receiver is not None:
        given.insert(0, function.receiver)
    bound_names = run.scope.names
    for name, value in zip(names, given, strict=False):
        bound_names[name] = value
    if spec.vararg is not None:
        rest = Collection("tuple", given[len(names) :], place=run.place(node))
        if arguments.open:
            rest.element = run.symbol("parameter", node)
        bound_names[spec.vararg.arg] = rest
    keywords = dict(arguments.keywords)
    for name in (*names, *(p.arg for p in spec.kwonlyargs)):
        if name in keywords:
            bound_names.setdefault(name, keywords.pop(name))
    if spec.kwarg is not None:
        bound_names[spec.kwarg.arg] = Table(
            dict(keywords), run.symbol("parameter", node) if arguments.open else None, place=run.place(node)
        )
    _defaults(run, function, arguments, node)


def _defaults(run: Interpreter, function: Function, arguments: Arguments, node: ast.AST) -> None:
    from torchcaliper.source.expressions import evaluate

    spec = function.definition.args
    parameters = [*spec.posonlyargs, *spec.args]
    defaults: list[Any] = [None] * (len(parameters) - len(spec.defaults)) + list(spec.defaults)
    inner = run.scope
    for parameter, default in [
        *zip(parameters, defaults, strict=True),
        *zip(spec.kwonlyargs, spec.kw_defaults, strict=True),
    ]:
        if parameter.arg in inner.names:
            continue
        if default is not None and not arguments.open:
            run.scope = function.scope
            try:
                value = evaluate(run, default)
            finally:
                run.scope = inner
            inner.names[parameter.arg] = value
        else:
            inner.names[parameter.arg] = parameter_of(run, parameter)


def parameter_of(run: Interpreter, parameter: ast.arg) -> Symbol:
    """A parameter of which nothing is known but its name and its annotation."""
    result = run.symbol("parameter", parameter, options={"name": Constant(parameter.arg)})
    if parameter.annotation is not None and not isinstance(parameter.annotation, ast.Constant):
        from torchcaliper.source.expressions import evaluate

        recording, run.recording = run.recording, False
        try:
            result.options = {"name": Constant(parameter.arg), "annotation": evaluate(run, parameter.annotation)}
        finally:
            run.recording = recording
    return result


def make(run: Interpreter, made: Class, arguments: Arguments, node: ast.AST) -> Value:
    """`Class(*arguments)`."""
    new = made.member("__new__")
    result = Object(made, arguments, place=run.place(node), context=run.context)
    run.emit("make", node, full=outside_type(result), receiver=made, arguments=arguments, result=result)
    init = made.member("__init__")
    if isinstance(init, Function):
        method = bound(run, init, result, node)
        call(run, method, arguments, node)
    elif new is None:
        _dataclass_fields(run, made, result, arguments, node)
        if is_network(result):
            adopt(result)
        if not made.knows_all_bases:
            escape(arguments)
    return result


def _dataclass_fields(run: Interpreter, made: Class, result: Object, arguments: Arguments, node: ast.AST) -> None:
    names: list[str] = []
    for parent in reversed(list(made.lineage())):
        if isinstance(parent, Class):
            names += [
                s.target.id
                for s in parent.definition.body
                if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and s.target.id not in names
            ]
    for name, value in zip(names, arguments.positional, strict=False):
        run.write(result.attributes, name, value)
    for name, value in arguments.keywords.items():
        run.write(result.attributes, name, value)
    after = made.member("__post_init__")
    if isinstance(after, Function):
        call(run, bound(run, after, result, node), Arguments(), node)


def call_object(run: Interpreter, called: Object, arguments: Arguments, node: ast.AST) -> Value:
    """`object(*arguments)`: a network's forward, a layer, or a class's `__call__`."""
    if called.type == "functools.partial" and called.arguments.positional:
        given = called.arguments
        joined = Arguments(
            (*given.positional[1:], *arguments.positional),
            {**given.keywords, **arguments.keywords},
            given.open or arguments.open,
        )
        return call(run, given.positional[0], joined, node)
    if called.type in WRAPPERS:
        inner = plain(called)
        if inner is not None and inner is not called:
            return call(run, inner, arguments, node)
    own = called.method("__call__")
    if own is not None and not is_network(called):
        return call(run, bound(run, own, called, node), arguments, node)
    if is_network(called):
        replaced = called.attributes.get("forward")
        forward = called.method("forward")
        if isinstance(replaced, Function):
            return _forward(run, called, replaced, arguments, node)
        if isinstance(forward, Function):
            return _forward(run, called, bound(run, forward, called, node), arguments, node)
        return _layer(run, called, arguments, node)
    escape(arguments)
    result = run.symbol("call", node, (called, *arguments.all()), by=called)
    full = called.type if isinstance(called.type, str) else ""
    return run.emit("call", node, full=full, receiver=called, arguments=arguments, result=result)


def _forward(
    run: Interpreter, network: Object, forward: Value, arguments: Arguments, node: ast.AST, full: str = ""
) -> Value:
    mode = run.context.training if _in_forward(run) else mode_of(network)
    run.emit(
        "enter", node, full=full, receiver=network, arguments=arguments, result=NONE, training=mode, attribute="forward"
    )
    position = len(run.trace.events) - 1 if run.recording else None
    context = run.context
    run.context = context.but(training=mode)
    try:
        result = call(run, forward, arguments, node)
    finally:
        run.context = context
    if position is not None and run.recording:
        run.trace.events[position].result = result
    return result


def _in_forward(run: Interpreter) -> bool:
    return any(c.function.name == "forward" for c in run.context.calls())


def _layer(run: Interpreter, layer: Object, arguments: Arguments, node: ast.AST) -> Value:
    """A class of torch: a container calls its parts, a layer is an operation."""
    kind = outside_type(layer)
    if kind == "torch.nn.Sequential":
        items = children(layer)
        if items is not None and arguments.positional:
            run.emit("enter", node, receiver=layer, arguments=arguments, result=NONE, training=_mode(run, layer))
            entry = run.trace.events[-1] if run.recording else None
            value: Value = arguments.positional[0]
            for item in items:
                value = call(run, item, Arguments((value,)), node)
            if entry is not None:
                entry.result = value
            return value
        child = some_child(layer)
        if child is not None and len(arguments.positional) == 1:
            # Of layers whose number is not known, each kind is followed once.
            value = call(run, child, arguments, node)
            return run.emit(
                "enter", node, receiver=layer, arguments=arguments, result=value, training=_mode(run, layer)
            )
    if not is_layer(kind):
        # A class of the project on an unknown base of a framework.
        result: Symbol = run.symbol("call", node, (layer, *arguments.all()), by=layer)
        escape(arguments)
    else:
        result = layer_call(run, layer, arguments, node)
    return run.emit(
        result.op, node, full=kind, receiver=layer, arguments=arguments, result=result, training=_mode(run, layer)
    )


def _mode(run: Interpreter, layer: Object) -> bool | None:
    own = layer.attributes.get("training")
    if isinstance(own, Constant):
        return bool(own.value)
    return run.context.training if _in_forward(run) else mode_of(layer)


def _super(run: Interpreter, value: Symbol, name: str, arguments: Arguments, node: ast.AST) -> Value:
    """`super().name(...)`: the next class of the lineage that has it."""
    receiver, owner = value.inputs[0], value.by
    lineage: list[Value] = []
    if isinstance(receiver, Object) and isinstance(receiver.type, Class):
        lineage = list(receiver.type.lineage())
        if owner in lineage:
            lineage = lineage[lineage.index(owner) + 1 :]
    for parent in lineage:
        if isinstance(parent, Class) and name in parent.members:
            found = parent.members[name]
            method = bound(run, found, receiver, node) if isinstance(receiver, Object) else found
            return call(run, method, arguments, node)
    if isinstance(receiver, Object):
        if name == "__init__":
            if is_network(receiver) and arguments.positional + tuple(arguments.keywords.values()):
                receiver.arguments = arguments
                adopt(receiver)
            return NONE
        if name == "forward":
            return _layer(run, receiver, arguments, node)
        return method_of_outside(run, receiver, name, arguments, node)
    return run.symbol("call", node, arguments.all())
