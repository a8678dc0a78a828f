"""The scene of an exception: the frames it went through, and what the source says at their lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from torchcaliper.run import blame
from torchcaliper.run.interruption import message

if TYPE_CHECKING:
    from torchcaliper.run.instruments.origins import Origins
    from torchcaliper.run.session import Session

_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Place:
    """One frame of the traceback."""

    frame: FrameType
    line: int
    lasti: int
    user: bool

    @property
    def function(self) -> str:
        return self.frame.f_code.co_name


class Scene:
    """An exception of the program and where it came from; valid while it is being handled."""

    def __init__(self, session: Session, error: BaseException) -> None:
        self.session = session
        self.error = error
        self.message = message(error)
        #: the frames it went through, innermost first
        self.places = list(_places(session, error.__traceback__))[::-1]

    @property
    def user(self) -> Place | None:
        """The user's frame nearest to the error."""
        return next((p for p in self.places if p.user), None)

    @property
    def origins(self) -> Origins | None:
        return self.session.instrument("origins")  # type: ignore[return-value]

    def path(self, place: Place) -> str:
        return self.session.sites.absolute(place.frame.f_code.co_filename)

    def site(self, place: Place | None, line: int | None = None) -> int | None:
        """The site of a place, or of another line of its function."""
        if place is None:
            return None
        return self.session.sites.number(self.path(place), place.line if line is None else line, place.function)

    def nodes(self, place: Place) -> Sequence[ast.AST]:
        """What ran at a place, the exact expression where this Python tells it, else all of the statement."""
        root = blame.tree(self.path(place))
        if root is None:
            return []
        exact = _position(place)
        if exact is not None:
            found = [n for n in ast.walk(root) if isinstance(n, ast.expr) and _span(n) == exact]
            if found:
                return list(found[:1])
        first, last = blame.statement(self.path(place), place.line)
        return [n for n in ast.walk(root) if isinstance(n, ast.stmt) and n.lineno == first and _end(n) >= last][:1]

    def bound(self, place: Place, expression: ast.expr | None) -> int | None:
        """The statement that gave a name or an attribute its value, as seen from a place."""
        if isinstance(expression, ast.Name):
            code = place.frame.f_code
            if expression.id in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                return None
            site = blame.assignment(self.session, code, expression.id, attribute=False, before=place.line)
            if site is None:
                site = blame.assignment(self.session, code, expression.id, attribute=False)
            return site
        if isinstance(expression, ast.Attribute) and isinstance(expression.value, ast.Name):
            holder = variables(place.frame).get(expression.value.id)
            if holder is not None and expression.value.id == "self":
                return self.attribute(place, type(holder), expression.attr)
        return None

    def attribute(self, place: Place, owner: type, name: str) -> int | None:
        """The statement that binds `self.name` in a class; a class of the file of `place` is found by its name."""
        site = blame.assignment(self.session, owner, name, attribute=True)
        if site is not None:
            return site
        path = self.path(place)
        for node in ast.walk(blame.tree(path) or ast.Pass()):
            if isinstance(node, ast.ClassDef) and node.name == owner.__name__:
                for part in ast.walk(node):
                    targets = part.targets if isinstance(part, ast.Assign) else ()
                    if any(isinstance(t, ast.Attribute) and t.attr == name for t in targets):
                        return self.session.sites.number(path, part.lineno, "__init__")  # type: ignore[attr-defined]
        return None


def _places(session: Session, trace: TracebackType | None) -> Iterator[Place]:
    while trace is not None:
        frame = trace.tb_frame
        user = session.sites.is_user(frame.f_code.co_filename)
        yield Place(frame, trace.tb_lineno, trace.tb_lasti, user)
        trace = trace.tb_next


def chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and those it was raised from."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen and len(seen) < _DEPTH:
        seen.add(id(current))
        yield current
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)


def variables(frame: FrameType) -> dict[str, Any]:
    """The variables of a frame that an exception has left; nothing of the program runs in it any more."""
    return dict(frame.f_locals)


def value(frame: FrameType, expression: ast.AST) -> Any:
    """What names, attributes and constant subscripts stand for, by plain look-ups that run no code; else None."""
    if isinstance(expression, ast.Name):
        own = variables(frame)
        return own[expression.id] if expression.id in own else frame.f_globals.get(expression.id)
    if isinstance(expression, ast.Attribute):
        return attribute(value(frame, expression.value), expression.attr)
    if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
        holder, key = value(frame, expression.value), expression.slice.value
        if type(holder) in (dict, list, tuple):
            try:
                return holder[key]
            except (KeyError, IndexError, TypeError):
                return None
    return None


def attribute(holder: Any, name: str) -> Any:
    """An attribute that is simply stored: in the object, or in a module's registries."""
    own = getattr(holder, "__dict__", None)
    if not isinstance(own, dict):
        return None
    if name in own:
        return own[name]
    for registry in ("_parameters", "_buffers", "_modules"):
        if name in (entries := own.get(registry) or {}):
            return entries[name]
    return None


def _position(place: Place) -> tuple[int, int, int, int] | None:
    positions = getattr(place.frame.f_code, "co_positions", None)
    if positions is None:
        return None
    found = next(islice(positions(), place.lasti // 2, None), None)
    return found if found is not None and None not in found else None


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _span(node: ast.expr) -> tuple[int, int | None, int, int | None]:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset
