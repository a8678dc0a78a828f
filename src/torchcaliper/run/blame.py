"""Which statement of the user's source did it: questions that the syntax tree answers and the run cannot.

Everything here reads files the program runs, at most once each, and returns None when it cannot be sure.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from types import CodeType, FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@lru_cache(maxsize=256)
def tree(path: str) -> ast.Module | None:
    """The syntax tree of a file as the interpreter read it, or None."""
    lines = linecache.getlines(path)
    try:
        return ast.parse("".join(lines)) if lines else None
    except (SyntaxError, ValueError, RecursionError):
        return None


def class_node(kind: type) -> tuple[str, ast.ClassDef] | None:
    """The file and definition of a class."""
    module = sys.modules.get(kind.__module__)
    path = getattr(module, "__file__", None)
    if not path:
        return None
    root = tree(path)
    if root is None:
        return None
    node: ast.AST = root
    for part in kind.__qualname__.split("."):
        if part == "<locals>":
            continue
        found = next(
            (n for n in ast.walk(node) if isinstance(n, ast.ClassDef | ast.FunctionDef) and n.name == part), None
        )
        if found is None:
            return None
        node = found
    return (path, node) if isinstance(node, ast.ClassDef) else None


def function_node(code: CodeType, path: str) -> ast.AST | None:
    """The definition that a code object was compiled from (the module itself for top-level code)."""
    root = tree(path)
    if root is None or code.co_name == "<module>":
        return root
    for node in ast.walk(root):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first <= code.co_firstlineno <= node.lineno:
                return node
    return root if code.co_name.startswith("<") else None


def _own_statements(scope: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a scope, without those of functions and classes defined in it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _own_statements(child)


def _targets(node: ast.AST) -> Iterable[ast.expr]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from target.elts if isinstance(target, ast.Tuple | ast.List) else (target,)
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr | ast.For | ast.AsyncFor):
        yield from node.target.elts if isinstance(node.target, ast.Tuple | ast.List) else (node.target,)
    elif isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            if item.optional_vars is not None:
                yield item.optional_vars


def _is(node: ast.AST, name: str, attribute: bool) -> bool:
    if attribute:
        return isinstance(node, ast.Attribute) and node.attr == name
    return isinstance(node, ast.Name) and node.id == name


def _scopes(session: Session, owner: type | CodeType) -> Iterator[tuple[str, ast.AST, str]]:
    """(file, scope, function name): the methods of a class and its bases, or the function of a code object."""
    if isinstance(owner, type):
        for kind in owner.__mro__:
            found = class_node(kind)
            if found is None or not session.sites.is_user(found[0]):
                continue
            path, node = found
            for method in ast.walk(node):
                if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield path, method, method.name
    else:
        path = session.sites.absolute(owner.co_filename)
        scope = function_node(owner, path)
        if scope is not None:
            yield path, scope, owner.co_name


def assignment(
    session: Session,
    owner: type | CodeType,
    name: str,
    *,
    attribute: bool,
    before: int | None = None,
    last: bool | None = None,
) -> int | None:
    """The statement that binds `self.name` in a class (attribute=True) or `name` in a function.

    The first one by default; with `before` (a line) or last=True the last one, of those above that line.
    """
    take_last = (before is not None) if last is None else last
    for path, scope, function in _scopes(session, owner):
        lines = [
            n.lineno
            for n in _own_statements(scope)
            if hasattr(n, "lineno")
            and any(_is(t, name, attribute) for t in _targets(n))
            and (before is None or n.lineno < before)
        ]
        if lines:
            return session.sites.number(path, max(lines) if take_last else min(lines), function)
    return None


def rebinding(session: Session, owner: type, name: str) -> int | None:
    """The statement outside of the constructor that stores a computed value in `self.name`; `forward`'s first."""
    found = [
        (function != "forward", n.lineno, path, function)
        for path, scope, function in _scopes(session, owner)
        if function != "__init__"
        for n in _own_statements(scope)
        if isinstance(n, ast.Assign | ast.AugAssign | ast.AnnAssign)
        and any(_is(t, name, True) for t in _targets(n))
        and not isinstance(n.value, ast.Constant)
    ]
    return session.sites.number(found[0][2], found[0][1], found[0][3]) if (found := sorted(found)) else None


def growth(
    session: Session,
    owner: type | CodeType,
    name: str,
    *,
    attribute: bool = False,
    surely: bool = False,
    whole_file: bool = False,
) -> int | None:
    """The statement that adds to a name: `x += ..`, `x = x + ..`, `x.append(..)`, `x[k] = ..`; the surest form first.

    `surely` leaves out plain rebinding; `whole_file` looks in every function of the file that a code object is from.
    """
    best: tuple[int, int, str, str] | None = None
    for path, scope, function in _scopes(session, owner):
        nodes = ast.walk(tree(path) or scope) if whole_file else _own_statements(scope)
        for node in nodes:
            rank = _growth_rank(node, name, attribute)
            if rank is not None and (best is None or rank < best[0]) and not (surely and rank == _REBINDS):
                best = (rank, node.lineno, path, function)  # type: ignore[attr-defined]
    return session.sites.number(best[2], best[1], best[3]) if best else None


_REBINDS = 3


def _growth_rank(node: ast.AST, name: str, attribute: bool) -> int | None:
    if isinstance(node, ast.AugAssign) and _is(node.target, name, attribute):
        return 0
    if isinstance(node, ast.AugAssign | ast.Assign):
        for target in _targets(node):
            while isinstance(target, ast.Subscript):
                target = target.value
                if _is(target, name, attribute):
                    return 2
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        holder: ast.expr = node.func.value
        while isinstance(holder, ast.Subscript):
            holder = holder.value
        adds = node.func.attr in (
            "append",
            "extend",
            "insert",
            "add",
            "update",
            "appendleft",
            "setdefault",
            "push",
            "put",
        )
        if adds and _is(holder, name, attribute):
            return 1
    if isinstance(node, ast.Assign) and any(_is(t, name, attribute) for t in _targets(node)):
        return 1 if any(_is(n, name, attribute) for n in ast.walk(node.value)) else _REBINDS
    return None


_GUARDS = ("no_grad", "inference_mode", "set_grad_enabled")


def grad_guard(session: Session, frames: list[FrameType]) -> int | None:
    """The `with torch.no_grad():` line or decorator that surrounds a call, seen from the frames (innermost first)."""
    for frame in frames:
        path = session.sites.absolute(frame.f_code.co_filename)
        scope = function_node(frame.f_code, path)
        if scope is None:
            continue
        line = frame.f_lineno or 0
        found = [
            n.lineno
            for n in _own_statements(scope)
            if isinstance(n, ast.With | ast.AsyncWith)
            and n.lineno <= line <= (n.end_lineno or n.lineno)
            and any(_mentions(i.context_expr, _GUARDS) for i in n.items)
        ]
        decorators = [d.lineno for d in getattr(scope, "decorator_list", []) if _mentions(d, _GUARDS)]
        if found or decorators:
            return session.sites.number(path, max(found) if found else decorators[0], frame.f_code.co_name)
    return None


def _mentions(node: ast.AST, names: tuple[str, ...]) -> bool:
    return any(
        (isinstance(n, ast.Attribute) and n.attr in names) or (isinstance(n, ast.Name) and n.id in names)
        for n in ast.walk(node)
    )


def statement(path: str, line: int) -> tuple[int, int]:
    """First and last line of the innermost statement that holds a line (of a compound statement: its header)."""
    root = tree(path)
    best = (line, line)
    if root is None:
        return best
    size: int | None = None
    for node in ast.walk(root):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
            if node.lineno <= line <= last and (size is None or last - node.lineno < size):
                best, size = (node.lineno, last), last - node.lineno
    return best


def find(path: str, wanted: Callable[[ast.AST], bool]) -> list[int]:
    """Lines of all nodes of a file for which `wanted` holds."""
    root = tree(path)
    return [n.lineno for n in ast.walk(root) if hasattr(n, "lineno") and wanted(n)] if root is not None else []


def keywords(path: str, line: int) -> set[str]:
    """Names of the keyword arguments written in the outermost call of the statement at a line."""
    root = tree(path)
    if root is None:
        return set()
    calls = [n for n in ast.walk(root) if isinstance(n, ast.Call) and n.lineno <= line <= (n.end_lineno or n.lineno)]
    wanted = [n for n in calls if n.keywords and n.lineno >= statement(path, line)[0]]
    return {k.arg for call in wanted for k in call.keywords if k.arg}
