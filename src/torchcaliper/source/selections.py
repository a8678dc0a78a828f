"""Which parameters of a network a filter over their names or shapes selects: `[p for n, p in named if "bias" in n]`.

The filter is evaluated for the name and the number of dims of each parameter, as far as these and the filter's own
names are literals of the program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torchcaliper.source.file import SourceFile
from torchcaliper.source.layers import has_parameters, is_network, layer_option, layer_type
from torchcaliper.source.values import Collection, Object, Symbol, Value, constant, options

_NORMS = ("LayerNorm", "GroupNorm", "BatchNorm", "RMSNorm", "InstanceNorm")
#: layers whose parameters have other names than weight and bias
_OTHERS = ("LSTM", "GRU", "RNN", "MultiheadAttention", "Transformer")


class NotKnown(Exception):
    """A filter, or a network, that the source does not tell enough of."""


@dataclass(frozen=True, slots=True)
class Named:
    """A parameter: its name, its number of dims, whether it belongs to a normalisation."""

    name: str
    dims: int
    of_norm: bool

    @property
    def is_small(self) -> bool:
        """A bias, or a gain of a normalisation: what weight decay is not for."""
        return self.of_norm or self.name.rpartition(".")[2] == "bias"


def named_parameters(network: Object, prefix: str = "", depth: int = 0) -> Iterator[Named]:
    """The parameters of a network, by name. NotKnown where some of its parts are not known."""
    if depth > 12:
        raise NotKnown
    kind = layer_type(network)
    if has_parameters(network):
        if kind.startswith(_OTHERS):
            raise NotKnown
        norm = kind.startswith(_NORMS)
        dims = 1 if norm else 2 + int(kind[-2]) if kind.startswith(("Conv", "LazyConv")) else 2
        yield Named(f"{prefix}weight", dims, norm)
        if not kind.startswith("Embedding") and constant(layer_option(network, "bias"), True) is not False:
            yield Named(f"{prefix}bias", 1, norm)
        return
    for name, value in network.attributes.items():
        if name == "[children]" and isinstance(value, Collection):
            for number, child in enumerate(value.all()):
                yield from _part(child, f"{prefix}{number}.", depth)
        elif not name.startswith("["):
            if isinstance(value, Symbol) and value.op == "Parameter":
                raise NotKnown
            yield from _part(value, f"{prefix}{name}.", depth)


def _part(value: Value, prefix: str, depth: int) -> Iterator[Named]:
    for option in options(value):
        if isinstance(option, Object) and is_network(option):
            yield from named_parameters(option, prefix, depth + 1)


def selected(file: SourceFile, node: ast.AST, parameters: list[Named]) -> list[Named]:
    """The parameters that a comprehension over `named_parameters()` keeps. NotKnown where that is not certain."""
    if not isinstance(node, ast.ListComp | ast.GeneratorExp) or len(node.generators) != 1:
        raise NotKnown
    generator = node.generators[0]
    target = generator.target
    by_name = isinstance(target, ast.Tuple) and len(target.elts) == 2 and isinstance(target.elts[0], ast.Name)
    literals = _literals(file, node)
    kept: list[Named] = []
    for parameter in parameters:
        names: dict[str, Any] = dict(literals)
        if by_name:
            assert isinstance(target, ast.Tuple)
            names[target.elts[0].id] = parameter.name  # type: ignore[attr-defined]
            held = target.elts[1]
        else:
            held = target
        if not isinstance(held, ast.Name):
            raise NotKnown
        names[held.id] = parameter
        if all(_evaluated(test, names) for test in generator.ifs):
            kept.append(parameter)
    return kept


def _literals(file: SourceFile, node: ast.AST) -> dict[str, Any]:
    """Names that are bound once in the file, to a literal."""
    found: dict[str, Any] = {}
    twice: set[str] = set()
    for statement in ast.walk(file.tree):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                try:
                    value = ast.literal_eval(statement.value)
                except ValueError:
                    continue
                if target.id in found:
                    twice.add(target.id)
                found[target.id] = value
    return {name: value for name, value in found.items() if name not in twice}


def _evaluated(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """The value of a filter's expression. NotKnown for anything beyond names, texts, dims and their comparison."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in names:
            raise NotKnown
        return names[node.id]
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_evaluated(part, names) for part in node.elts]
    if isinstance(node, ast.BoolOp):
        values = (_evaluated(part, names) for part in node.values)
        return all(values) if isinstance(node.op, ast.And) else any(values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return not _evaluated(node.operand, names)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(node, names)
    if isinstance(node, ast.Attribute):
        holder = _evaluated(node.value, names)
        if isinstance(holder, Named) and node.attr == "ndim":
            return holder.dims
        if isinstance(holder, Named) and node.attr == "requires_grad":
            return True
        if isinstance(holder, Named) and node.attr == "shape":
            return (0,) * holder.dims
        raise NotKnown
    if isinstance(node, ast.Call):
        return _called(node, names)
    raise NotKnown


def _compared(node: ast.Compare, names: Mapping[str, Any]) -> bool:
    left, right = _evaluated(node.left, names), _evaluated(node.comparators[0], names)
    op = type(node.ops[0])
    if op in (ast.In, ast.NotIn) and isinstance(right, str | list | tuple | set):
        return (left in right) is (op is ast.In)
    if op in (ast.Eq, ast.NotEq):
        return bool(left == right) is (op is ast.Eq)
    if isinstance(left, int) and isinstance(right, int):
        return {ast.Lt: left < right, ast.LtE: left <= right, ast.Gt: left > right, ast.GtE: left >= right}[op]
    raise NotKnown


def _called(node: ast.Call, names: Mapping[str, Any]) -> Any:
    function = node.func
    if isinstance(function, ast.Name) and function.id in ("any", "all") and len(node.args) == 1:
        inner = node.args[0]
        if not isinstance(inner, ast.GeneratorExp | ast.ListComp) or len(inner.generators) != 1:
            raise NotKnown
        generator = inner.generators[0]
        if not isinstance(generator.target, ast.Name):
            raise NotKnown
        over = _evaluated(generator.iter, names)
        results = [
            bool(_evaluated(inner.elt, {**names, generator.target.id: item}))
            for item in over
            if all(_evaluated(test, {**names, generator.target.id: item}) for test in generator.ifs)
        ]
        return any(results) if function.id == "any" else all(results)
    if isinstance(function, ast.Name) and function.id == "len" and len(node.args) == 1:
        return len(_evaluated(node.args[0], names))
    if isinstance(function, ast.Attribute):
        holder = _evaluated(function.value, names)
        if isinstance(holder, Named) and function.attr == "dim":
            return holder.dims
        given = [_evaluated(part, names) for part in node.args]
        if isinstance(holder, str) and function.attr in ("endswith", "startswith", "lower", "split"):
            given = [tuple(part) if isinstance(part, list) else part for part in given]
            return getattr(holder, function.attr)(*given)
    raise NotKnown
