"""What a statement that copies weights says: which module is written, which is read, as the user's source has it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, Any

from torch import nn

from torchcaliper.run import blame
from torchcaliper.run.frames import locals_of
from torchcaliper.run.instruments.holders import attributes

if TYPE_CHECKING:
    from torchcaliper.run.session import Session

_PARAMETERS = ("parameters", "named_parameters")
_EVERYTHING = ("state_dict", "buffers", "named_buffers")


@dataclass(slots=True)
class CopyStatement:
    """Receivers are expressions such as `self.target`; None where the source does not show them."""

    target: ast.expr | None
    source: ast.expr | None
    line: int

    @property
    def target_text(self) -> str:
        return ast.unparse(self.target) if self.target is not None else ""

    @property
    def source_text(self) -> str:
        return ast.unparse(self.source) if self.source is not None else ""


def load_statement(session: Session, frame: FrameType) -> CopyStatement | None:
    """`target.load_state_dict(...source.state_dict()...)` at the frame's line."""
    root = blame.tree(session.sites.absolute(frame.f_code.co_filename))
    line = frame.f_lineno or 0
    if root is None:
        return None
    for node in ast.walk(root):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "load_state_dict"
            and node.lineno <= line <= (node.end_lineno or node.lineno)
        ):
            sources = [
                n.func.value
                for argument in [*node.args, *(k.value for k in node.keywords)]
                for n in ast.walk(argument)
                if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "state_dict"
            ]
            return CopyStatement(node.func.value, sources[0] if len(sources) == 1 else None, node.lineno)
    return None


def loop_statement(session: Session, frame: FrameType) -> CopyStatement | None:
    """The loop over parameters around the frame's line, whose body writes one of them in place."""
    code = frame.f_code
    scope = blame.function_node(code, session.sites.absolute(code.co_filename))
    line = frame.f_lineno or 0
    if scope is None:
        return None
    loops = [
        n for n in ast.walk(scope) if isinstance(n, ast.For) and n.body[0].lineno <= line <= (n.end_lineno or n.lineno)
    ]
    for loop in reversed(loops):
        pairs = _receivers(loop)
        if not pairs:
            continue
        for statement in loop.body:
            for node in ast.walk(statement):
                if not (isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)):
                    continue
                written = _written(node)
                if written in pairs:
                    others = [r for name, r in pairs.items() if name != written]
                    return CopyStatement(pairs[written], others[0] if len(others) == 1 else None, node.lineno)
    return None


def averaging_loops(path: str) -> list[tuple[int, str]]:
    """(line, function) of statements in a file that write one network's parameters in a loop over two networks'.

    Loops in functions that also walk over buffers or whole states are left out: they copy what batch norm counts.
    """
    root = blame.tree(path)
    found = []
    if root is not None:
        functions = [n for n in ast.walk(root) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        scopes: list[ast.AST] = [*functions, root]
        for scope in scopes:
            top = isinstance(scope, ast.Module)
            inner = {id(n) for f in functions for n in ast.walk(f)} if top else set()
            nodes = [n for n in ast.walk(scope) if id(n) not in inner]
            if not top and any(isinstance(n, ast.Attribute) and n.attr in _EVERYTHING for n in nodes):
                continue
            name = scope.name if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef) else "<module>"
            for loop in nodes:
                if isinstance(loop, ast.For) and len(pairs := _receivers(loop)) >= 1 and _mentions_two(loop):
                    lines = [
                        n.lineno
                        for n in ast.walk(loop)
                        if isinstance(n, ast.stmt) and n is not loop and _written(n) in pairs
                    ]
                    if lines:
                        found.append((lines[0], name))
                        break
    return found


def _mentions_two(loop: ast.For) -> bool:
    """Two networks take part: two receivers, or a loop over names that looks the other value up."""
    receivers = {ast.unparse(r) for r in _receivers(loop).values()}
    return len(receivers) == 2 or any(isinstance(n, ast.Subscript) for n in ast.walk(loop))


def _receivers(loop: ast.For) -> dict[str, ast.expr]:
    """Loop variable -> whose parameters it runs over: `for t, p in zip(target.parameters(), online.parameters())`."""
    found: dict[str, ast.expr] = {}

    def match(target: ast.expr, iterable: ast.expr) -> None:
        if isinstance(iterable, ast.Call):
            function = iterable.func
            if isinstance(function, ast.Attribute) and function.attr in _PARAMETERS:
                if function.attr == "named_parameters" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
                    target = target.elts[1]
                if isinstance(target, ast.Name):
                    found[target.id] = function.value
            elif isinstance(function, ast.Name) and function.id == "zip" and isinstance(target, ast.Tuple):
                for element, argument in zip(target.elts, iterable.args, strict=False):
                    match(element, argument)
            elif isinstance(function, ast.Name) and function.id == "enumerate" and isinstance(target, ast.Tuple):
                if iterable.args and len(target.elts) == 2:
                    match(target.elts[1], iterable.args[0])
            elif isinstance(function, ast.Name) and function.id in ("list", "tuple", "iter") and iterable.args:
                match(target, iterable.args[0])

    match(loop.target, loop.iter)
    return found


def _written(statement: ast.AST) -> str | None:
    """The variable that a statement writes in place: `t.data.copy_(..)`, `t.mul_(..)`, `t.data = ..`, `t -= ..`."""
    node: ast.AST
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        node, changes = statement.value, False
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changes |= node.func.attr.endswith("_")
            node = node.func.value
        if not changes:
            return None
    elif isinstance(statement, ast.AugAssign):
        node = statement.target
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        node = statement.targets[0]
        if isinstance(node, ast.Name):
            return None
        if isinstance(node, ast.Attribute) and node.attr != "data":
            return None
    else:
        return None
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def resolve(expression: ast.expr | None, frame: FrameType) -> Any:
    """What an expression of names, attributes and constant subscripts stands for, by plain look-ups; else None."""
    if expression is None:
        return None
    if isinstance(expression, ast.Name):
        own = locals_of(frame)
        return own[expression.id] if expression.id in own else frame.f_globals.get(expression.id)
    if isinstance(expression, ast.Attribute):
        holder = resolve(expression.value, frame)
        if isinstance(holder, nn.Module):
            for registry in (holder._modules, holder._parameters):
                if expression.attr in registry:
                    return registry[expression.attr]
        return next((v for n, v in attributes(holder) if n == expression.attr), None) if holder is not None else None
    if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
        holder = resolve(expression.value, frame)
        key = expression.slice.value
        if type(holder) in (dict, list, tuple):
            try:
                return holder[key]
            except (KeyError, IndexError, TypeError):
                return None
        if isinstance(holder, nn.ModuleDict | nn.ModuleList | nn.Sequential):
            return holder._modules.get(str(key))
    return None


def binding(session: Session, frame: FrameType, expressions: list[ast.expr]) -> int | None:
    """Where the later of two names was bound: attributes in their object's class, names in the frame's function."""
    found: list[tuple[int, int]] = []
    for expression in expressions:
        site = None
        if isinstance(expression, ast.Attribute):
            owner = resolve(expression.value, frame)
            if owner is not None:
                site = blame.assignment(session, type(owner), expression.attr, attribute=True)
        elif isinstance(expression, ast.Name):
            if expression.id in frame.f_code.co_varnames[: frame.f_code.co_argcount]:
                return None  # an argument: bound by whoever calls
            site = blame.assignment(session, frame.f_code, expression.id, attribute=False)
            if site is None and frame.f_back is not None:
                site = next(
                    (
                        s
                        for outer in session.sites.user_frames(frame.f_back)
                        if outer.f_globals is frame.f_globals
                        and (s := blame.assignment(session, outer.f_code, expression.id, attribute=False)) is not None
                    ),
                    None,
                )
        if site is not None:
            found.append((session.run.sites[site].line, site))
    return max(found)[1] if len(found) == len(expressions) else None
