"""Modes: what records a graph, autocast regions, training and evaluation of networks."""

from __future__ import annotations

import ast

from torchcaliper.source.interpreter import Interpreter
from torchcaliper.source.layers import is_network
from torchcaliper.source.operations import NO_GRAD
from torchcaliper.source.trace import Context, Region
from torchcaliper.source.truth import truth
from torchcaliper.source.values import (
    Arguments,
    Collection,
    Constant,
    External,
    Function,
    Object,
    Place,
    Table,
    Value,
    name_of,
)

_ENABLE = ("torch.enable_grad", "torch.autograd.enable_grad")
SET_GRAD = ("torch.set_grad_enabled", "torch.autograd.set_grad_enabled")


def grad_after(name: str, arguments: Arguments, grad: bool | None) -> bool | None:
    """Whether autograd records within something of this name."""
    if name in NO_GRAD:
        mode = arguments.get("mode", 0)
        # inference_mode(False) does not.
        return grad if isinstance(mode, Constant) and mode.value is False else False
    if name in _ENABLE:
        return True
    if name in SET_GRAD:
        return truth(arguments.get("mode", 0))
    return grad


def entered_region(run: Interpreter, manager: Value, node: ast.AST) -> Context:
    """The context within `with manager:`."""
    name, arguments = "", Arguments()
    if isinstance(manager, Object) and isinstance(manager.type, str):
        name, arguments = manager.type, manager.arguments
    elif isinstance(manager, External):
        name = manager.name
    elif isinstance(manager, Object):
        name = manager.type_name
    context = run.context
    return context.but(region=run.region(name, arguments, node), grad=grad_after(name, arguments, context.grad))


def decorated(run: Interpreter, function: Function) -> Context:
    """The context within a function that has decorators."""
    context = run.context
    written = [] if isinstance(function.definition, ast.Lambda) else function.definition.decorator_list
    for decorator, node in zip(function.decorators, written, strict=False):
        if isinstance(decorator, External):
            name, arguments = decorator.name, Arguments()
        elif isinstance(decorator, Object):
            name, arguments = decorator.type_name, decorator.arguments
        else:
            continue
        if name.startswith("torch."):
            context = context.but(
                region=Region(name, arguments, Place(function.scope.file, node), context.region),
                grad=grad_after(name, arguments, context.grad),
            )
    return context


def set_mode(run: Interpreter, network: Value, training: Value) -> None:
    """Put a network and the networks in it into a mode."""
    seen: set[int] = set()
    stack = [network]
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Object) and is_network(item):
            run.write(item.attributes, "training", training)
            stack.extend(v for k, v in item.attributes.items() if k != "training")
        elif isinstance(item, Collection | Table):
            # The children of a container; plain lists are not reached by train() and eval() in torch either,
            # but their layers are seldom told apart from registered ones later.
            stack.extend(item.all())


def mode_of(network: Value) -> bool | None:
    """The mode that a network is in; True for one that was made and never changed, None when not known."""
    if not isinstance(network, Object):
        return None
    value = network.attributes.get("training")
    if value is None:
        return True if network.context is not None else None
    return truth(value)


def is_no_grad(value: Value) -> bool:
    return name_of(value) in NO_GRAD or (isinstance(value, Object) and value.type in NO_GRAD)
