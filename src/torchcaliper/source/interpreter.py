"""Follows a program's functions with abstract values, in the order in which Python would.

Nothing of the program is run or imported. Loops are followed once, both sides of a branch whose test is not known, and
functions of the project with the values that they are given. The price is bounded: see `MAX_STEPS`, `calls_until` and
`MAX_DEPTH`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from torchcaliper.source.file import SourceFile
from torchcaliper.source.project import Project
from torchcaliper.source.scope import Scope
from torchcaliper.source.trace import Condition, Context, Event, Loop, Region, Trace
from torchcaliper.source.values import Arguments, Place, Symbol, Value, either

#: expressions and statements followed for one entry: some 5,000 lines of straight code
MAX_STEPS = 60_000
#: calls within calls
MAX_DEPTH = 14
#: after so many steps, no function is followed more than MAX_VISITS times: machinery of a framework in the same project
#: calls itself in ever new ways, the user's own code seldom does
MANY_STEPS = 6_000
MAX_VISITS = 3
_MISSING: Final[Any] = object()


_NOTHING = Arguments()


class GivenUp(Exception):
    """An entry is too long to be followed to its end."""


@dataclass(eq=False, slots=True)
class Frame:
    """A call that is being followed."""

    returns: list[Value] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    #: why the statements that follow are not reached: `return`, `raise`, `continue` or `break`
    ended: str | None = None


class Interpreter:
    """The state of following one entry. `statements` and `expressions` do the work on it."""

    def __init__(self, project: Project, file: SourceFile, trace: Trace) -> None:
        self.project = project
        self.file = file
        self.trace = trace
        self.scope = Scope(file)
        self.frame = Frame()
        self.context = Context()
        self.steps = 0
        #: after so many steps, functions that are called are not followed any more
        self.calls_until = MAX_STEPS
        #: how often each function was followed
        self.visits: dict[int, int] = {}
        #: whether what happens is written down; off while an imported file's module-level code is followed
        self.recording = True
        self._journal: list[tuple[dict[Any, Any], Any, Any]] = []
        self._branches = 0
        #: functions of the project that were followed, so that they need not be entered by themselves
        self.entered: set[int] = set()

    # Places and events

    def place(self, node: ast.AST) -> Place:
        return Place(self.file, node)

    def step(self) -> None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise GivenUp

    def emit(
        self,
        name: str,
        node: ast.AST,
        *,
        full: str = "",
        receiver: Value | None = None,
        arguments: Arguments | None = None,
        result: Value | None = None,
        attribute: str = "",
        training: bool | None = None,
    ) -> Value:
        """Write down that something happens; gives its result."""
        if result is None:
            result = self.symbol("call", node)
        if self.recording:
            # Most events have a result that is made right here: one place does for both.
            made = result.place
            place = made if made is not None and made.node is node else Place(self.file, node)
            self.trace.events.append(
                Event(
                    name,
                    full,
                    receiver,
                    arguments if arguments is not None else _NOTHING,
                    result,
                    place,
                    self.context,
                    len(self.trace.events),
                    attribute,
                    training,
                )
            )
        return result

    def symbol(self, op: str, node: ast.AST, inputs: Iterable[Value] = (), **more: Any) -> Symbol:
        """A value that is the result of an operation, made here."""
        context = self.context
        return Symbol(
            op,
            tuple(inputs),
            place=Place(self.file, node),
            recorded=context.grad is not False,
            context=context,
            **more,
        )

    # State that branches change

    def write(self, names: dict[Any, Any], key: Any, value: Any) -> None:
        """Set an entry of a dict of the state (names of a scope, attributes of an object)."""
        if self._branches:
            self._journal.append((names, key, names.get(key, _MISSING)))
        names[key] = value

    def bind(self, name: str, value: Value) -> None:
        """Bind a name in the current scope."""
        holder = self.scope.holder(name) if self.scope.elsewhere else self.scope
        self.write(holder.names, name, value)

    def alternatives(self, node: ast.AST, test: Value | None, ways: Sequence[tuple[bool, Callable[[], None]]]) -> None:
        """Follow each way from the present state, then join what they left behind."""
        frame, context = self.frame, self.context
        outcomes: list[tuple[str | None, dict[tuple[int, Any], tuple[dict[Any, Any], Any, Any]]]] = []
        self._branches += 1
        try:
            for taken, way in ways:
                self.context = context.but(condition=Condition(self.place(node), test, taken, context.condition))
                frame.ended = None
                mark = len(self._journal)
                way()
                changes: dict[tuple[int, Any], tuple[dict[Any, Any], Any, Any]] = {}
                while len(self._journal) > mark:
                    names, key, old = self._journal.pop()
                    changes.setdefault((id(names), key), (names, key, names.get(key, _MISSING)))
                    if old is _MISSING:
                        names.pop(key, None)
                    else:
                        names[key] = old
                outcomes.append((frame.ended, changes))
        finally:
            self._branches -= 1
            self.context = context
        live = [changes for ended, changes in outcomes if ended is None]
        frame.ended = None if live else outcomes[0][0] if outcomes else None
        # Where every way ends, what they did to objects still counts.
        self._join(live or [changes for _, changes in outcomes])

    def _join(self, ways: list[dict[tuple[int, Any], tuple[dict[Any, Any], Any, Any]]]) -> None:
        touched: dict[tuple[int, Any], tuple[dict[Any, Any], Any, Any]] = {}
        for changes in ways:
            touched.update(changes)
        for key, (names, name, _) in touched.items():
            present = names.get(name, _MISSING)
            values = [changes[key][2] if key in changes else present for changes in ways]
            known = [value for value in values if value is not _MISSING]
            if known:
                self.write(names, name, known[0] if len(known) == 1 else either(*known))

    # Circumstances

    def inside(self, work: Callable[[], None], **changes: Any) -> None:
        """Do something with parts of the context changed."""
        context = self.context
        self.context = context.but(**changes)
        try:
            work()
        finally:
            self.context = context

    def loop(self, node: ast.AST, over: Value | None) -> Loop:
        return Loop(self.place(node), over, self.context.loop, self.context.condition)

    def region(self, name: str, arguments: Arguments, node: ast.AST) -> Region:
        return Region(name, arguments, self.place(node), self.context.region)
