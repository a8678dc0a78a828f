"""Attributes of values: reading and assigning."""

from __future__ import annotations

import ast

from torchcaliper.source.imports import member
from torchcaliper.source.interpreter import Interpreter
from torchcaliper.source.layers import WRAPPERS, children, is_network
from torchcaliper.source.modes import mode_of
from torchcaliper.source.operations import outside
from torchcaliper.source.shapes import infer_shape, shape_of_values, shape_value
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
    Value,
    either,
)

#: attributes of tensors that are operations on them
_VIEWS = {"T": "transpose", "mT": "transpose", "H": "transpose", "data": "data", "real": "real", "imag": "imag"}


def get_attribute(run: Interpreter, value: Value, name: str, node: ast.AST) -> Value:
    """`value.name`, for reading."""
    if isinstance(value, External):
        return outside(f"{value.name}.{name}")
    if isinstance(value, Module):
        found = member(run, value.file, name)
        return found if found is not None else run.symbol("attribute", node, (value,), options={"name": Constant(name)})
    if isinstance(value, Object):
        return _of_object(run, value, name, node)
    if isinstance(value, Class):
        found = value.member(name)
        if found is not None:
            return _bound_to_class(value, found)
        if name == "__name__":
            return Constant(value.name)
    elif isinstance(value, Either):
        return either(*[get_attribute(run, option, name, node) for option in value.options[:4]])
    elif isinstance(value, Phi) and not isinstance(value.first, Symbol | Constant):
        return get_attribute(run, value.first, name, node)
    elif isinstance(value, Symbol | Phi):
        if name in _VIEWS:
            result = run.symbol(_VIEWS[name], node, (value,))
            if name == "data":
                run.emit("data", node, full="torch.Tensor.data", receiver=value, result=result, attribute="data")
                result.shape = value.shape if isinstance(value, Symbol) else None
            elif name == "mT" or (isinstance(value, Symbol) and value.shape is not None and len(value.shape) == 2):
                infer_shape(result)
            return result
        if name in ("values", "indices") and isinstance(value, Symbol):
            result = run.symbol("attribute", node, (value,), options={"name": Constant(name)})
            result.shape = shape_of_values(value)
            return result
        if name == "shape":
            return shape_value(run, value, node)
        if name == "grad":
            result = run.symbol("grad", node, (value,))
            run.emit("grad", node, full="torch.Tensor.grad", receiver=value, result=result, attribute="grad")
            return result
    return run.symbol("attribute", node, (value,), options={"name": Constant(name)})


def _of_object(run: Interpreter, value: Object, name: str, node: ast.AST) -> Value:
    if name == "training" and is_network(value):
        known = value.attributes.get("training")
        if known is not None:
            return known
        mode = run.context.training if run.context.call is not None else mode_of(value)
        return Constant(mode) if mode is not None else run.symbol("attribute", node, (value,))
    held = value.attributes.get(name)
    if held is not None:
        return held
    own = value.method(name)
    if own is not None:
        return bound(run, own, value, node)
    if value.is_a("torch.nn.ModuleDict"):
        stored = value.attributes.get(f"[{name!r}]")
        if stored is not None:
            return stored
    if value.type in WRAPPERS and name == "module" and value.arguments.positional:
        return value.arguments.positional[0]
    if name.isdigit():
        items = children(value)
        if items is not None and int(name) < len(items):
            return items[int(name)]
    # A class attribute of a dataclass or of a base that is not known.
    return run.symbol("attribute", node, (value,), options={"name": Constant(name)})


def bound(run: Interpreter, found: Value, receiver: Object, node: ast.AST) -> Value:
    """A class's member as it is seen through an instance."""
    if not isinstance(found, Function):
        return found
    names = {getattr(d, "name", "") for d in found.decorators}
    if "builtins.staticmethod" in names:
        return found
    if "builtins.classmethod" in names:
        return _with_receiver(found, receiver.type if isinstance(receiver.type, Class) else receiver)
    method = _with_receiver(found, receiver)
    if names & {"builtins.property", "functools.cached_property"}:
        from torchcaliper.source.calling import call_function

        return call_function(run, method, Arguments(), node)
    return method


def _bound_to_class(value: Class, found: Value) -> Value:
    if isinstance(found, Function) and any(getattr(d, "name", "") == "builtins.classmethod" for d in found.decorators):
        return _with_receiver(found, value)
    return found


def _with_receiver(function: Function, receiver: Value) -> Function:
    return Function(
        function.definition,
        function.scope,
        function.owner,
        receiver,
        function.decorators,
        function.partial,
        place=function.place,
    )


def set_attribute(run: Interpreter, holder: Value, name: str, value: Value, node: ast.AST) -> None:
    """`holder.name = value`."""
    run.emit("set", node, receiver=holder, arguments=Arguments((value,)), result=value, attribute=name)
    if isinstance(holder, Phi):
        holder = holder.first
    if isinstance(holder, Object):
        run.write(holder.attributes, name, value)
    elif isinstance(holder, Class):
        run.write(holder.members, name, value)
    elif isinstance(holder, Either):
        for option in holder.options:
            if isinstance(option, Object):
                run.write(option.attributes, name, either(option.attributes.get(name, value), value))
    if isinstance(holder, Collection):
        holder.escaped = True
