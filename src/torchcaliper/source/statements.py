"""What each statement does to the state."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from torchcaliper.source.attributes import set_attribute
from torchcaliper.source.expressions import evaluate, operator_name
from torchcaliper.source.imports import import_from, import_module
from torchcaliper.source.interpreter import Interpreter
from torchcaliper.source.items import element_of, set_item, unpack
from torchcaliper.source.modes import SET_GRAD, entered_region
from torchcaliper.source.scope import Scope
from torchcaliper.source.truth import truth
from torchcaliper.source.values import (
    NONE,
    Class,
    Collection,
    Constant,
    Function,
    Object,
    Phi,
    Symbol,
    Value,
)


def follow(run: Interpreter, body: Iterable[ast.stmt]) -> None:
    """Follow statements up to the first that ends them."""
    frame = run.frame
    for statement in body:
        if frame.ended is not None:
            return
        run.step()
        handler = _STATEMENTS.get(type(statement))
        if handler is not None:
            handler(run, statement)


def assign(run: Interpreter, target: ast.expr, value: Value, node: ast.AST) -> None:
    """Bind a target: a name, attribute, item, or a tuple of these."""
    if isinstance(target, ast.Name):
        run.bind(target.id, value)
    elif isinstance(target, ast.Attribute):
        set_attribute(run, evaluate(run, target.value), target.attr, value, target)
    elif isinstance(target, ast.Subscript):
        set_item(run, evaluate(run, target.value), evaluate(run, target.slice), value, target)
    elif isinstance(target, ast.Tuple | ast.List):
        star = next((i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)), None)
        for part, piece in zip(target.elts, unpack(run, value, len(target.elts), star, node), strict=True):
            assign(run, part.value if isinstance(part, ast.Starred) else part, piece, node)
    elif isinstance(target, ast.Starred):
        assign(run, target.value, value, node)


def _expression(run: Interpreter, node: ast.Expr) -> None:
    value = node.value
    if isinstance(value, ast.Attribute):
        # Named and not called: `optimizer.zero_grad` without parentheses.
        run.emit("mention", node, receiver=evaluate(run, value.value), result=NONE, attribute=value.attr)
    elif not isinstance(value, ast.Constant):
        result = evaluate(run, value)
        if isinstance(result, Object) and result.type in SET_GRAD:
            # Not the head of a with block: it holds until something else is set.
            run.emit("grad_mode", node, arguments=result.arguments, result=NONE)


def _assign(run: Interpreter, node: ast.Assign) -> None:
    value = evaluate(run, node.value)
    for target in node.targets:
        assign(run, target, value, node)


def _annotated(run: Interpreter, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(run, node.target, evaluate(run, node.value), node)


def _augmented(run: Interpreter, node: ast.AugAssign) -> None:
    target = node.target
    old = evaluate(run, target)
    added = evaluate(run, node.value)
    op = operator_name(node.op)
    if isinstance(old, Collection) and op == "add":
        # A list grows in place.
        if isinstance(added, Collection) and added.known and not run.context.loop:
            old.items.extend(added.items)
            value: Value = old
        else:
            old.element = element_of(run, added, node)
            value = old
    else:
        value = run.symbol(op, node, (old, added))
        value.shape = old.shape if isinstance(old, Symbol) else None
    name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
    run.emit("update", node, full=op, receiver=old, arguments=_one(added), result=value, attribute=name)
    assign(run, target, value, node)


def _one(value: Value) -> Any:
    from torchcaliper.source.values import Arguments

    return Arguments((value,))


def _function(run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    decorators = tuple(evaluate(run, d) for d in node.decorator_list)
    run.bind(node.name, Function(node, run.scope, decorators=decorators, place=run.place(node)))


def _class(run: Interpreter, node: ast.ClassDef) -> None:
    bases = tuple(evaluate(run, base) for base in node.bases)
    made = Class(node, Scope(run.file, run.scope, is_class=True), bases, place=run.place(node))
    decorators = [evaluate(run, d) for d in node.decorator_list]
    outer, made.members = run.scope, made.scope.names
    run.scope = made.scope
    try:
        follow(run, node.body)
    finally:
        run.scope = outer
    for member in made.members.values():
        if isinstance(member, Function) and member.owner is None and member.definition in node.body:
            member.owner = made
    if decorators:
        made.members.setdefault("__decorators__", Collection("tuple", decorators))
    run.bind(node.name, made)


def _return(run: Interpreter, node: ast.Return) -> None:
    run.frame.returns.append(NONE if node.value is None else evaluate(run, node.value))
    run.frame.ended = "return"


def _raise(run: Interpreter, node: ast.Raise) -> None:
    # What the exception says is of no interest: the path ends here.
    run.frame.ended = "raise"


def _continue(run: Interpreter, node: ast.Continue) -> None:
    run.frame.ended = "continue"


def _break(run: Interpreter, node: ast.Break) -> None:
    run.frame.ended = "break"


def _if(run: Interpreter, node: ast.If) -> None:
    test = evaluate(run, node.test)
    known = truth(test)
    if known is not None:
        follow(run, node.body if known else node.orelse)
        return
    if not node.orelse and isinstance(node.body[0], ast.Raise):
        # A guard: the path that goes on has changed nothing.
        return
    if run.context.call is not None and isinstance(test, Symbol):
        run.emit("branch", node, receiver=test, result=NONE)
    run.alternatives(node, test, [(True, lambda: follow(run, node.body)), (False, lambda: follow(run, node.orelse))])


def _for(run: Interpreter, node: ast.For | ast.AsyncFor) -> None:
    over = evaluate(run, node.iter)
    if isinstance(over, Collection) and over.kind in ("list", "tuple") and over.known and _few_objects(over):
        # A handful of known objects (two networks, three optimizers): each in its turn.
        for item in over.items:
            _turn(run, node, over, item)
        return
    _turn(run, node, over, element_of(run, over, node))
    if run.frame.ended is None:
        follow(run, node.orelse)


def _few_objects(over: Collection) -> bool:
    if len(over.items) > 4:
        return False
    rows = [item.items if isinstance(item, Collection) else [item] for item in over.items]
    return any(isinstance(part, Object | Function | Class) for row in rows for part in row)


def _turn(run: Interpreter, node: ast.For | ast.AsyncFor, over: Value, item: Value) -> None:
    def body() -> None:
        assign(run, node.target, item, node)
        _body(run, node, node.body)

    run.inside(body, loop=run.loop(node, over))


def _while(run: Interpreter, node: ast.While) -> None:
    test = evaluate(run, node.test)
    if truth(test) is False:
        return
    run.inside(lambda: _body(run, node, node.body), loop=run.loop(node, test))
    if run.frame.ended is None:
        follow(run, node.orelse)


def _body(run: Interpreter, node: ast.AST, body: list[ast.stmt]) -> None:
    """Follow a loop's body once: names that it rebinds have a first and a later value."""
    carried: list[Phi] = []
    for name in _rebound(node):
        old = run.scope.find(name) if run.scope.holder(name) is run.scope else None
        if isinstance(old, Constant | Symbol) and name in run.scope.names:
            phi = Phi(name, old, loop=run.context.loop, place=old.place)
            carried.append(phi)
            run.bind(name, phi)
    follow(run, body)
    for phi in carried:
        last = run.scope.names.get(phi.name)
        if last is phi:
            # Not rebound after all (a branch that was not taken).
            run.bind(phi.name, phi.first)
        else:
            phi.next = last
            run.emit("carry", node, receiver=phi, result=last or NONE, attribute=phi.name)
    # A return in a loop may not be reached.
    run.frame.ended = None


_REBOUND: dict[int, tuple[ast.AST, frozenset[str]]] = {}


def _rebound(node: ast.AST) -> frozenset[str]:
    """Names that a loop's body assigns (not the loop's own targets)."""
    known = _REBOUND.get(id(node))
    if known is not None and known[0] is node:
        return known[1]
    found: set[str] = set()
    stack: list[ast.AST] = [*getattr(node, "body", [])]
    while stack:
        item = stack.pop()
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(item, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target]
            for target in targets:
                parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
                found.update(part.id for part in parts if isinstance(part, ast.Name))
        if isinstance(item, ast.stmt | ast.excepthandler | ast.match_case):
            stack.extend(child for child in ast.iter_child_nodes(item) if not isinstance(child, ast.expr))
    if len(_REBOUND) > 4096:
        _REBOUND.clear()
    names = frozenset(found)
    _REBOUND[id(node)] = (node, names)
    return names


def _with(run: Interpreter, node: ast.With | ast.AsyncWith) -> None:
    context = run.context
    try:
        for item in node.items:
            manager = evaluate(run, item.context_expr)
            run.context = entered_region(run, manager, item.context_expr)
            if item.optional_vars is not None:
                entered = manager if isinstance(manager, Object) else run.symbol("entered", node, (manager,))
                assign(run, item.optional_vars, entered, node)
        follow(run, node.body)
    finally:
        # What a with block changed beside its own regions stays.
        run.context = context


def _try(run: Interpreter, node: Any) -> None:
    follow(run, node.body)
    ended = run.frame.ended
    if node.handlers:
        run.frame.ended = None
        ways: list[tuple[bool, Callable[[], None]]] = [(True, lambda: _resume(run, ended, node.orelse))]
        for handler in node.handlers:
            ways.append((False, lambda handler=handler: _handler(run, handler)))  # type: ignore[misc]
        run.alternatives(node, None, ways)
    elif ended is None:
        follow(run, node.orelse)
    ended = run.frame.ended
    run.frame.ended = None
    follow(run, node.finalbody)
    run.frame.ended = run.frame.ended or ended


def _resume(run: Interpreter, ended: str | None, body: list[ast.stmt]) -> None:
    run.frame.ended = ended
    follow(run, body)


def _handler(run: Interpreter, handler: ast.ExceptHandler) -> None:
    if handler.name:
        run.bind(handler.name, run.symbol("exception", handler))
    follow(run, handler.body)


def _match(run: Interpreter, node: ast.Match) -> None:
    subject = evaluate(run, node.subject)
    ways: list[tuple[bool, Callable[[], None]]] = []
    for case in node.cases:
        ways.append((True, lambda case=case: _case(run, case, subject)))  # type: ignore[misc]
    if not any(isinstance(c.pattern, ast.MatchAs) and c.pattern.pattern is None and not c.guard for c in node.cases):
        ways.append((False, lambda: None))
    run.alternatives(node, subject, ways)


def _case(run: Interpreter, case: ast.match_case, subject: Value) -> None:
    for part in ast.walk(case.pattern):
        name = getattr(part, "name", None)
        if isinstance(name, str):
            run.bind(name, run.symbol("matched", case.pattern, (subject,)))
    follow(run, case.body)


def _delete(run: Interpreter, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            run.emit("del", node, receiver=run.scope.find(target.id), attribute=target.id, result=NONE)
            run.bind(target.id, run.symbol("deleted", node))


def _global(run: Interpreter, node: ast.Global) -> None:
    for name in node.names:
        run.scope.elsewhere[name] = run.scope.top


def _nonlocal(run: Interpreter, node: ast.Nonlocal) -> None:
    for name in node.names:
        scope = run.scope.parent
        while scope is not None and (scope.is_class or name not in scope.names):
            scope = scope.parent
        if scope is not None:
            run.scope.elsewhere[name] = scope


def _assert(run: Interpreter, node: ast.Assert) -> None:
    evaluate(run, node.test)


def _import(run: Interpreter, node: ast.Import) -> None:
    for alias in node.names:
        import_module(run, alias, node)


def _import_from(run: Interpreter, node: ast.ImportFrom) -> None:
    import_from(run, node)


_STATEMENTS: dict[type[ast.stmt], Callable[[Interpreter, Any], None]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Continue: _continue,
    ast.Break: _break,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Match: _match,
    ast.Delete: _delete,
    ast.Global: _global,
    ast.Nonlocal: _nonlocal,
    ast.Assert: _assert,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = _try
