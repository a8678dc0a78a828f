"""`view` of a tensor whose strides do not allow it: which operation made it non-contiguous."""

from __future__ import annotations

import ast
import builtins
from types import FunctionType
from typing import Any

import torch

from torchcaliper.run import blame
from torchcaliper.run.causes.scene import Place, Scene, value

_MESSAGE = "view size is not compatible with input tensor's size and stride"
#: methods, functions and attributes that change the strides of what they return, and keep its memory
_STRIDED = frozenset(
    [
        "transpose",
        "permute",
        "t",
        "T",
        "mT",
        "H",
        "mH",
        "adjoint",
        "swapaxes",
        "swapdims",
        "transpose_",
        "swapaxes_",
        "movedim",
        "moveaxis",
        "expand",
        "expand_as",
        "broadcast_to",
        "unfold",
        "narrow",
        "chunk",
        "split",
        "select",
        "rot90",
        "as_strided",
        "diagonal",
        "channels_last",
        "unbind",
        "tensor_split",
    ]
)
_STEPS = 6


def explain(scene: Scene) -> dict[str, Any] | None:
    place = scene.user
    if _MESSAGE not in scene.message or place is None:
        return None
    details: dict[str, Any] = {"cause": "strides"}
    receiver = _receiver(scene, place)
    if receiver is None:
        return details
    tensor = value(place.frame, receiver)
    if isinstance(tensor, torch.Tensor):
        details.update(tensor=ast.unparse(receiver), shape=list(tensor.shape), strides=list(tensor.stride()))
        if tensor.dim() in (4, 5):
            wide = torch.channels_last if tensor.dim() == 4 else torch.channels_last_3d
            details["channels_last"] = tensor.is_contiguous(memory_format=wide)
        origin = scene.origins.of(tensor) if scene.origins is not None else None
        if origin is not None and origin.strided_by and origin.strided_site is not None:
            return {**details, "operation": origin.strided_by, "operation_site": origin.strided_site}
    found = _in_source(scene, place, receiver)
    if found is not None:
        details.update(operation=found[0], operation_site=found[1])
    return details


def _receiver(scene: Scene, place: Place) -> ast.expr | None:
    for node in scene.nodes(place):
        for call in ast.walk(node):
            function = call.func if isinstance(call, ast.Call) else None
            if isinstance(function, ast.Attribute) and function.attr in ("view", "view_as"):
                return function.value
    return None


def _in_source(scene: Scene, place: Place, expression: ast.expr) -> tuple[str, int | None] | None:
    """Follow the assignments of a name backwards to the operation that changes strides."""
    line, path, function = place.line, scene.path(place), place.function
    scope = blame.function_node(place.frame.f_code, path)
    for _ in range(_STEPS):
        found = _operation(expression)
        if isinstance(found, tuple):
            return found[0], scene.session.sites.number(path, found[1], function)
        if isinstance(found, ast.Call):
            # A function of the user's: what does it return?
            called = value(place.frame, found.func)
            if not isinstance(called, FunctionType) or not scene.session.sites.is_user(called.__code__.co_filename):
                return None
            path, function = scene.session.sites.absolute(called.__code__.co_filename), called.__name__
            scope = blame.function_node(called.__code__, path)
            returns = [n for n in ast.walk(scope or ast.Pass()) if isinstance(n, ast.Return) and n.value is not None]
            if not returns or returns[-1].value is None:
                return None
            expression, line = returns[-1].value, returns[-1].lineno
            continue
        if found is None or scope is None:
            return None
        assigned = [
            n
            for n in ast.walk(scope)
            if isinstance(n, ast.Assign) and n.lineno < line and any(_binds(t, found.id) for t in n.targets)
        ]
        if not assigned:
            return None
        last = max(assigned, key=lambda n: n.lineno)
        expression, line = last.value, last.lineno
    return None


def _operation(node: ast.expr) -> tuple[str, int] | ast.Name | ast.Call | None:
    """Go inwards through an expression to what changes strides, to a name, or to a call of a function by name."""
    while True:
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in _STRIDED:
                return name, function.end_lineno or function.lineno
            if isinstance(function, ast.Attribute) and not _is_library(function.value):
                node = function.value
            elif isinstance(function, ast.Name) and function.id not in dir(builtins):
                return node
            elif node.args:
                node = node.args[0]
            else:
                return None
        elif isinstance(node, ast.Attribute):
            if node.attr in _STRIDED:
                return f".{node.attr}", node.end_lineno or node.lineno
            node = node.value
        elif isinstance(node, ast.Subscript):
            if any(isinstance(p, ast.Slice) and (p.lower or p.upper or p.step) for p in _parts(node)):
                return "[...]", node.end_lineno or node.lineno
            node = node.value
        else:
            return node if isinstance(node, ast.Name) else None


def _parts(node: ast.Subscript) -> list[ast.expr]:
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _binds(target: ast.expr, name: str) -> bool:
    names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return any(isinstance(n, ast.Name) and n.id == name for n in names)


def _is_library(node: ast.expr) -> bool:
    """`torch`, `F`, `self.layer`: what is called there is no tensor's method."""
    if isinstance(node, ast.Name):
        return node.id in ("torch", "F", "nn", "self")
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in ("torch", "nn", "self")
    )
