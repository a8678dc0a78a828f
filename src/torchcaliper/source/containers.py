"""Methods of lists, dicts, sets and literals."""

from __future__ import annotations

import ast

from torchcaliper.source.interpreter import Interpreter
from torchcaliper.source.items import element_of
from torchcaliper.source.values import (
    NONE,
    Arguments,
    Collection,
    Constant,
    Table,
    Value,
    either,
)

_ADDS = frozenset({"append", "add", "appendleft", "insert", "push"})
#: methods of strings and numbers that are worth computing
_TEXT = frozenset({"lower", "upper", "strip", "startswith", "endswith", "replace", "split", "format", "removesuffix"})


def method_of_container(
    run: Interpreter, receiver: Collection | Table | Constant, name: str, arguments: Arguments, node: ast.AST
) -> Value:
    """`receiver.name(*arguments)`."""
    if isinstance(receiver, Constant):
        return _literal(run, receiver, name, arguments, node)
    result = _collection(run, receiver, name, arguments, node) if isinstance(receiver, Collection) else None
    if isinstance(receiver, Table):
        result = _table(run, receiver, name, arguments, node)
    if result is None:
        result = run.symbol("call", node, (receiver, *arguments.all()))
        result.op = f"call:{name}"
    return run.emit(name, node, receiver=receiver, arguments=arguments, result=result)


def _collection(run: Interpreter, held: Collection, name: str, arguments: Arguments, node: ast.AST) -> Value | None:
    if name in _ADDS and arguments.positional:
        added = arguments.positional[-1]
        certain = run.context.loop is None and run.context.condition is None and held.known
        if certain and name == "append":
            held.items.append(added)
        else:
            held.element = added if held.element is None else either(held.element, added)
        return NONE
    if name == "extend" and arguments.positional:
        added = arguments.positional[0]
        if isinstance(added, Collection) and added.known and held.known and run.context.loop is None:
            held.items.extend(added.items)
        else:
            more = element_of(run, added, node)
            held.element = more if held.element is None else either(held.element, more)
        return NONE
    if name in ("pop", "popleft"):
        values = list(held.all())
        return either(*values[:4]) if values else None
    if name in ("copy",):
        return Collection(held.kind, list(held.items), held.element, place=run.place(node))
    if name in ("sort", "reverse", "clear", "remove"):
        return NONE
    return None


def _table(run: Interpreter, held: Table, name: str, arguments: Arguments, node: ast.AST) -> Value | None:
    first = arguments.get("key", 0)
    if name in ("get", "pop", "setdefault"):
        default = arguments.get("default", 1) or NONE
        if isinstance(first, Constant) and first.value in held.items:
            return held.items[first.value]
        if name == "setdefault" and isinstance(first, Constant):
            run.write(held.items, first.value, default)
            return default
        if held.element is not None:
            return either(held.element, default)
        return default if isinstance(first, Constant) and name == "get" else None
    if name == "values":
        return Collection("list", list(held.items.values()), held.element)
    if name == "keys":
        return Collection(
            "list", [Constant(key) for key in held.items], run.symbol("key", node) if held.element else None
        )
    if name == "items":
        pairs: list[Value] = [Collection("tuple", [Constant(key), value]) for key, value in held.items.items()]
        rest = Collection("tuple", [run.symbol("key", node), held.element]) if held.element is not None else None
        return Collection("list", pairs, rest)
    if name == "update":
        if isinstance(first, Table):
            for key, value in first.items.items():
                run.write(held.items, key, value)
            held.element = held.element or first.element
        elif first is not None:
            held.element = run.symbol("element", node, (first,))
        for key, value in arguments.keywords.items():
            run.write(held.items, key, value)
        return NONE
    if name == "copy":
        return Table(dict(held.items), held.element, place=run.place(node))
    return None


def _literal(run: Interpreter, receiver: Constant, name: str, arguments: Arguments, node: ast.AST) -> Value:
    if isinstance(receiver.value, str) and name in _TEXT:
        given = [a.value for a in arguments.positional if isinstance(a, Constant)]
        if len(given) == len(arguments.positional) and not arguments.keywords and len(receiver.value) < 1000:
            try:
                result = getattr(receiver.value, name)(*given)
                if isinstance(result, list):
                    return Collection("list", [Constant(part) for part in result])
                return Constant(result)
            except Exception:
                pass
    result_symbol = run.symbol("call", node, (receiver, *arguments.all()))
    result_symbol.op = f"call:{name}"
    return result_symbol
