"""What each expression stands for."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable
from typing import Any

from torchcaliper.source.attributes import get_attribute
from torchcaliper.source.calling import call
from torchcaliper.source.interpreter import MAX_STEPS, GivenUp, Interpreter
from torchcaliper.source.items import element_of, get_item
from torchcaliper.source.operations import outside
from torchcaliper.source.scope import Scope
from torchcaliper.source.shapes import shape_of_binary
from torchcaliper.source.truth import is_none, truth
from torchcaliper.source.values import (
    NONE,
    Arguments,
    Collection,
    Constant,
    Function,
    Object,
    Symbol,
    Table,
    Value,
    either,
)

_OPERATORS: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any] | None]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("truediv", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.Pow: ("pow", operator.pow),
    ast.MatMult: ("matmul", None),
    ast.LShift: ("lshift", None),
    ast.RShift: ("rshift", None),
    ast.BitOr: ("or", None),
    ast.BitXor: ("xor", None),
    ast.BitAnd: ("and", None),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any] | None]] = {
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
    ast.In: ("in", lambda a, b: a in b),
    ast.NotIn: ("not_in", lambda a, b: a not in b),
}
_BUILTINS = frozenset(dir(builtins)) | {"display", "get_ipython"}
_LARGEST = 2**64
#: of longer lists and dicts written out, only so many elements are followed: tables of data
_MAX_DISPLAY = 48


def evaluate(run: Interpreter, node: ast.expr) -> Value:
    """The value of an expression; what happens on the way is written down."""
    # As `run.step()` does, without a call: this is the hottest line of all.
    run.steps += 1
    if run.steps > MAX_STEPS:
        raise GivenUp
    return _EXPRESSIONS[type(node)](run, node)


def operator_name(op: ast.operator) -> str:
    return _OPERATORS[type(op)][0]


def _constant(run: Interpreter, node: ast.Constant) -> Value:
    return Constant(node.value, place=run.place(node))


def _name(run: Interpreter, node: ast.Name) -> Value:
    name = node.id
    value = run.scope.find(name)
    if value is not None:
        return value
    for module in run.scope.top.starred:
        # Which of several modules has it is not known; torch's own names are told by their case.
        if module == "torch.nn" and name[:1].isupper():
            return outside(f"{module}.{name}")
        if module in ("torch", "torch.nn.functional", "torch.optim", "torch.utils.data") and name not in _BUILTINS:
            return outside(f"{module}.{name}")
    if name in _BUILTINS:
        return outside(f"builtins.{name}")
    return run.symbol("name", node, options={"name": Constant(name)})


def _attribute(run: Interpreter, node: ast.Attribute) -> Value:
    return get_attribute(run, evaluate(run, node.value), node.attr, node)


def _call(run: Interpreter, node: ast.Call) -> Value:
    function = node.func
    if isinstance(function, ast.Attribute):
        receiver = evaluate(run, function.value)
        if _is_command_line(receiver):
            return run.symbol(f"call:{function.attr}", node, (receiver,))
        arguments = _arguments(run, node)
        from torchcaliper.source.calling import call_method

        return call_method(run, receiver, function.attr, arguments, node)
    called = evaluate(run, function)
    return call(run, called, _arguments(run, node), node)


def _is_command_line(value: Value) -> bool:
    """Whether a value describes options of the command line: pages of calls that hold nothing to judge."""
    if isinstance(value, Object):
        return isinstance(value.type, str) and value.type.startswith("argparse.")
    if isinstance(value, Symbol) and value.op.startswith("call:add_") and value.inputs:
        return _is_command_line(value.inputs[0])
    return False


def _arguments(run: Interpreter, node: ast.Call) -> Arguments:
    positional: list[Value] = []
    keywords: dict[str, Value] = {}
    open_ended = False
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            spread = evaluate(run, argument.value)
            if isinstance(spread, Collection) and spread.known:
                positional.extend(spread.items)
            else:
                open_ended = True
                if isinstance(spread, Collection | Table):
                    positional.extend(spread.all())
                else:
                    positional.append(spread)
        else:
            positional.append(evaluate(run, argument))
    for keyword in node.keywords:
        value = evaluate(run, keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Table) and value.element is None and all(isinstance(k, str) for k in value.items):
            keywords.update(value.items)
        else:
            open_ended = True
    return Arguments(tuple(positional), keywords, open_ended)


def _binary(run: Interpreter, node: ast.BinOp) -> Value:
    left, right = evaluate(run, node.left), evaluate(run, node.right)
    name, function = _OPERATORS[type(node.op)]
    if isinstance(left, Constant) and isinstance(right, Constant):
        folded = _fold(function, left.value, right.value)
        if folded is not None:
            return Constant(folded, place=run.place(node))
    if isinstance(left, Collection) and isinstance(right, Collection) and name == "add":
        element = left.element if left.element is not None else right.element
        return Collection(left.kind, [*left.items, *right.items], element, place=run.place(node))
    if isinstance(left, Collection) and name == "mul":
        if isinstance(right, Constant) and isinstance(right.value, int) and len(left.items) * right.value <= 64:
            result = Collection(left.kind, left.items * right.value, left.element, place=run.place(node))
        else:
            result = Collection(left.kind, [], either(*left.all()) if left.items else None, place=run.place(node))
        run.emit("repeat_list", node, receiver=left, arguments=Arguments((right,)), result=result)
        return result
    result_symbol = run.symbol(name, node, (left, right))
    shape_of_binary(result_symbol, left, right)
    if name == "truediv" and isinstance(left, Symbol) and left.op in ("add", "total"):
        # A sum that a loop has made, divided: a mean.
        run.emit("divide", node, full=name, receiver=left, arguments=Arguments((right,)), result=result_symbol)
    return result_symbol


def _fold(function: Callable[[Any, Any], Any] | None, left: Any, right: Any) -> Any:
    if function is None or not isinstance(left, int | float | str) or not isinstance(right, int | float | str):
        return None
    if function is operator.mul and (isinstance(left, str) or isinstance(right, str)):
        return None
    if function is operator.pow and not (isinstance(right, int | float) and abs(right) <= 64):
        return None
    if function is operator.mod and isinstance(left, str):
        return None
    try:
        result = function(left, right)
    except Exception:
        return None
    return result if isinstance(result, str | float) or (isinstance(result, int) and abs(result) < _LARGEST) else None


def _unary(run: Interpreter, node: ast.UnaryOp) -> Value:
    value = evaluate(run, node.operand)
    if isinstance(node.op, ast.Not):
        known = truth(value)
        return Constant(not known) if known is not None else run.symbol("not", node, (value,))
    if isinstance(value, Constant) and isinstance(value.value, int | float):
        number: Any = value.value
        if isinstance(node.op, ast.USub):
            return Constant(-number, place=run.place(node))
        if isinstance(node.op, ast.UAdd):
            return value
    name = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}[type(node.op)]
    result = run.symbol(name, node, (value,))
    result.shape = value.shape if isinstance(value, Symbol) else None
    return result


def _boolean(run: Interpreter, node: ast.BoolOp) -> Value:
    values: list[Value] = []
    stop = isinstance(node.op, ast.Or)
    for part in node.values:
        value = evaluate(run, part)
        known = truth(value)
        if known is stop:
            values.append(value)
            break
        if known is None:
            values.append(value)
        last = value
    if not values:
        return last
    if len(values) == 1 and truth(values[0]) is stop:
        return values[0]
    if stop:
        return either(*values)
    return run.symbol("and_also", node, values)


def _compare(run: Interpreter, node: ast.Compare) -> Value:
    left = evaluate(run, node.left)
    if len(node.ops) > 1:
        values = [left, *(evaluate(run, c) for c in node.comparators)]
        return run.symbol("compare", node, values)
    op, right = node.ops[0], evaluate(run, node.comparators[0])
    if isinstance(op, ast.Is | ast.IsNot):
        if isinstance(right, Constant) and right.value is None:
            known = is_none(left)
            if known is not None:
                return Constant(known is isinstance(op, ast.Is))
        elif isinstance(left, Constant) and isinstance(right, Constant) and isinstance(right.value, bool):
            return Constant((left.value is right.value) is isinstance(op, ast.Is))
        elif isinstance(left, Object) and left is right:
            return Constant(isinstance(op, ast.Is))
        return run.symbol("is" if isinstance(op, ast.Is) else "is_not", node, (left, right))
    name, function = _COMPARISONS[type(op)]
    if isinstance(left, Constant) and function is not None:
        other = _literal(right)
        if other is not None:
            try:
                return Constant(bool(function(left.value, other.value)))
            except Exception:
                pass
    result = run.symbol(name, node, (left, right))
    shape_of_binary(result, left, right)
    if name == "eq" and (_is_choice(left) or _is_choice(right)):
        run.emit("compare", node, full="eq", arguments=Arguments((left, right)), result=result)
    return result


def _is_choice(value: Value) -> bool:
    """Whether a value is the class with the highest score."""
    return isinstance(value, Symbol) and value.op in ("argmax", "max", "getitem")


def _literal(value: Value) -> Constant | None:
    """A constant, or a collection of constants as one."""
    if isinstance(value, Constant):
        return value
    if isinstance(value, Collection) and value.known and all(isinstance(item, Constant) for item in value.items):
        return Constant([item.value for item in value.items if isinstance(item, Constant)])
    if isinstance(value, Table) and value.element is None:
        return Constant(list(value.items))
    return None


def _subscript(run: Interpreter, node: ast.Subscript) -> Value:
    holder = evaluate(run, node.value)
    return get_item(run, holder, evaluate(run, node.slice), node)


def _slice(run: Interpreter, node: ast.Slice) -> Value:
    parts = [NONE if part is None else evaluate(run, part) for part in (node.lower, node.upper, node.step)]
    if all(isinstance(part, Constant) for part in parts):
        return Constant(slice(*[part.value for part in parts if isinstance(part, Constant)]), place=run.place(node))
    return run.symbol("slice", node, parts)


def _tuple(run: Interpreter, node: ast.Tuple) -> Value:
    return _sequence(run, node, "tuple")


def _list(run: Interpreter, node: ast.List) -> Value:
    return _sequence(run, node, "list")


def _set(run: Interpreter, node: ast.Set) -> Value:
    return _sequence(run, node, "set")


def _sequence(run: Interpreter, node: ast.Tuple | ast.List | ast.Set, kind: str) -> Value:
    result = Collection(kind, context=run.context, place=run.place(node))
    if len(node.elts) > _MAX_DISPLAY:
        result.element = run.symbol("element", node)
    for part in node.elts[:_MAX_DISPLAY]:
        if isinstance(part, ast.Starred):
            spread = evaluate(run, part.value)
            if isinstance(spread, Collection):
                result.items.extend(spread.items)
                rest = spread.element
            else:
                rest = element_of(run, spread, part)
            if rest is not None:
                result.element = rest if result.element is None else either(result.element, rest)
        else:
            result.items.append(evaluate(run, part))
    return result


def _dict(run: Interpreter, node: ast.Dict) -> Value:
    result = Table(context=run.context, place=run.place(node))
    if len(node.keys) > _MAX_DISPLAY:
        result.element = run.symbol("element", node)
    for key, part in zip(node.keys[:_MAX_DISPLAY], node.values, strict=False):
        value = evaluate(run, part)
        if key is None:
            if isinstance(value, Table):
                result.items.update(value.items)
                result.element = result.element or value.element
            else:
                result.element = run.symbol("element", node, (value,))
            continue
        index = evaluate(run, key)
        if isinstance(index, Constant):
            result.items[index.value] = value
        else:
            result.element = value if result.element is None else either(result.element, value)
    return result


def _comprehension(run: Interpreter, node: Any) -> Value:
    """List, set, generator and dict comprehensions: the element once, within a scope and loops of its own."""
    from torchcaliper.source.statements import assign

    outer, context = run.scope, run.context
    run.scope = Scope(run.file, outer)
    overs: list[Value] = []
    try:
        for generator in node.generators:
            over = evaluate(run, generator.iter)
            overs.append(over)

            run.context = run.context.but(loop=run.loop(node, over))
            assign(run, generator.target, element_of(run, over, node), node)
            for test in generator.ifs:
                evaluate(run, test)
        if isinstance(node, ast.DictComp):
            evaluate(run, node.key)
            return Table({}, evaluate(run, node.value), place=run.place(node))
        element = evaluate(run, node.elt)
    finally:
        run.scope, run.context = outer, context
    kind = {ast.ListComp: "list", ast.SetComp: "set"}.get(type(node), "generator")
    return Collection(kind, [], element, place=run.place(node))


def _lambda(run: Interpreter, node: ast.Lambda) -> Value:
    return Function(node, run.scope, place=run.place(node))


def _conditional(run: Interpreter, node: ast.IfExp) -> Value:
    test = evaluate(run, node.test)
    known = truth(test)
    if known is not None:
        return evaluate(run, node.body if known else node.orelse)
    found: list[Value] = []
    run.alternatives(
        node,
        test,
        [
            (True, lambda: found.append(evaluate(run, node.body))),
            (False, lambda: found.append(evaluate(run, node.orelse))),
        ],
    )
    return either(*found)


def _joined(run: Interpreter, node: ast.JoinedStr) -> Value:
    inputs = [evaluate(run, part.value) for part in node.values if isinstance(part, ast.FormattedValue)]
    return run.symbol("format", node, inputs)


def _starred(run: Interpreter, node: ast.Starred) -> Value:
    return evaluate(run, node.value)


def _walrus(run: Interpreter, node: ast.NamedExpr) -> Value:
    value = evaluate(run, node.value)
    run.bind(node.target.id, value)
    return value


def _await(run: Interpreter, node: ast.Await) -> Value:
    return evaluate(run, node.value)


def _yield(run: Interpreter, node: ast.Yield) -> Value:
    run.frame.yields.append(NONE if node.value is None else evaluate(run, node.value))
    return run.symbol("sent", node)


def _yield_from(run: Interpreter, node: ast.YieldFrom) -> Value:
    run.frame.yields.append(element_of(run, evaluate(run, node.value), node))
    return run.symbol("sent", node)


def _unknown(run: Interpreter, node: ast.expr) -> Value:
    return run.symbol("unknown", node)


class _Table(dict[type, Callable[[Interpreter, Any], Value]]):
    def __missing__(self, kind: type) -> Callable[[Interpreter, Any], Value]:
        # Syntax of a later Python (template strings).
        return _unknown


_EXPRESSIONS = _Table(
    {
        ast.Constant: _constant,
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Call: _call,
        ast.BinOp: _binary,
        ast.UnaryOp: _unary,
        ast.BoolOp: _boolean,
        ast.Compare: _compare,
        ast.Subscript: _subscript,
        ast.Slice: _slice,
        ast.Tuple: _tuple,
        ast.List: _list,
        ast.Set: _set,
        ast.Dict: _dict,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.GeneratorExp: _comprehension,
        ast.DictComp: _comprehension,
        ast.Lambda: _lambda,
        ast.IfExp: _conditional,
        ast.JoinedStr: _joined,
        ast.Starred: _starred,
        ast.NamedExpr: _walrus,
        ast.Await: _await,
        ast.Yield: _yield,
        ast.YieldFrom: _yield_from,
    }
)
