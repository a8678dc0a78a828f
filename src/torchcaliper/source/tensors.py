"""Operations on tensors: one node of the expression, with its arguments by name."""

from __future__ import annotations

import ast

from torchcaliper.source.interpreter import Interpreter
from torchcaliper.source.layers import layer_type, outside_type
from torchcaliper.source.operations import FORWARD, LAYERS, PARAMETERS
from torchcaliper.source.shapes import infer_shape
from torchcaliper.source.values import Arguments, Object, Symbol, Value


def operation(run: Interpreter, op: str, arguments: Arguments, node: ast.AST, by: Value | None = None) -> Symbol:
    """The result of a function of torch, or of a tensor's method (its receiver then is the first argument)."""
    names = PARAMETERS.get(op)
    if names is None:
        inputs = arguments.positional
        named = dict(arguments.keywords)
        if "input" in named:
            inputs = (named.pop("input"), *inputs)
    else:
        named = dict(zip(names, arguments.positional, strict=False))
        named.update(arguments.keywords)
        for alias, name in _ALIASES.items():
            if alias in named:
                named[name] = named.pop(alias)
        rest = arguments.positional[len(names) :]
        order: list[str] = [name for name in ("input", "target") if name in named]
        if not order and names:
            order = [name for name in names[:1] if name in named]
        inputs = (*(named.pop(name) for name in order), *rest)
        if op in ("matmul", "bmm", "where", "scaled_dot_product_attention", "cosine_similarity"):
            inputs = (*inputs, *(v for k, v in named.items() if k in names))
    result = run.symbol(op, node, inputs, options=named, by=by)
    infer_shape(result)
    return result


def layer_call(run: Interpreter, layer: Object, arguments: Arguments, node: ast.AST) -> Symbol:
    """The result of calling a layer of torch: the same as of the function that it stands for."""
    kind = layer_type(layer) or outside_type(layer).rpartition(".")[2]
    op, parameters = LAYERS.get(kind, (kind.lower(), ()))
    options: dict[str, Value] = dict(zip(parameters, layer.arguments.positional, strict=False))
    options.update(layer.arguments.keywords)
    forward = FORWARD.get(kind) or (("input", "target") if kind.endswith("Loss") else ("input",))
    given = dict(zip(forward, arguments.positional, strict=False))
    given.update(arguments.keywords)
    rest = arguments.positional[len(forward) :]
    inputs = (*(given.pop(name) for name in forward[:3] if name in given and name in _INPUTS), *rest)
    result = run.symbol(op, node, inputs, options={**options, **given}, by=layer)
    infer_shape(result)
    return result


#: NumPy's names of parameters, which torch takes as well
_ALIASES = {"axis": "dim", "keepdims": "keepdim"}
_INPUTS = frozenset({"input", "target", "query", "key", "value"})
