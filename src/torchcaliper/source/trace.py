"""What a program does, in order, as far as its source tells: the record that source rules judge."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from torchcaliper.findings import Location
from torchcaliper.source.values import Arguments, Class, Function, Place, Symbol, Value

if TYPE_CHECKING:
    from torchcaliper.source.file import SourceFile


@dataclass(eq=False, slots=True)
class Loop:
    """A `for`, `while` or comprehension while its body is followed (once). `over` is what is iterated."""

    place: Place
    over: Value | None
    parent: Loop | None = None
    #: the branch that the whole loop stands in
    condition: Condition | None = None


@dataclass(eq=False, slots=True)
class Condition:
    """A branch whose test is not known. `taken` is the branch followed: True, False, or the number of a handler."""

    place: Place
    test: Value | None
    taken: bool
    parent: Condition | None = None


@dataclass(eq=False, slots=True)
class Call:
    """A function of the project while its body is followed."""

    function: Function
    place: Place
    parent: Call | None = None

    @property
    def depth(self) -> int:
        return 1 + (self.parent.depth if self.parent is not None else 0)


@dataclass(eq=False, slots=True)
class Region:
    """A `with` block (or a decorator) of something from outside: `torch.no_grad`, `torch.autocast`."""

    name: str
    arguments: Arguments
    place: Place
    parent: Region | None = None


@dataclass(eq=False, slots=True)
class Context:
    """The circumstances in which something happens. Never changed; `but` makes another one."""

    loop: Loop | None = None
    condition: Condition | None = None
    call: Call | None = None
    region: Region | None = None
    #: whether autograd records; None when that is not known
    grad: bool | None = True
    #: mode of the network whose forward is being followed; None outside of one, or when not known
    training: bool | None = None

    def but(self, **changes: Any) -> Context:
        """These circumstances with some of them changed."""
        new = Context(self.loop, self.condition, self.call, self.region, self.grad, self.training)
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def loops(self) -> Iterator[Loop]:
        """Innermost first."""
        loop = self.loop
        while loop is not None:
            yield loop
            loop = loop.parent

    def conditions(self) -> Iterator[Condition]:
        condition = self.condition
        while condition is not None:
            yield condition
            condition = condition.parent

    def calls(self) -> Iterator[Call]:
        call = self.call
        while call is not None:
            yield call
            call = call.parent

    def regions(self) -> Iterator[Region]:
        region = self.region
        while region is not None:
            yield region
            region = region.parent

    def always_in(self, loop: Loop) -> bool:
        """Whether no branch within a loop decides if something is done in a turn of it."""
        return self.condition is loop.condition

    def within(self, *names: str) -> Region | None:
        """The innermost region of one of these names."""
        return next((region for region in self.regions() if region.name in names), None)

    @property
    def autocast(self) -> Region | None:
        """The autocast region that is in effect; None outside of one, or where it is disabled."""
        from torchcaliper.source.operations import AUTOCAST
        from torchcaliper.source.values import constant

        region = self.within(*AUTOCAST)
        if region is None or constant(region.arguments.get("enabled")) is False:
            return None
        return region


@dataclass(eq=False, slots=True)
class Event:
    """Something the program does.

    `name` is the short name of the operation or method (`backward`, `step`, `cross_entropy`), `full` the full name of
    something from outside. Names of their own: `enter` for a call of a network or function of the project, `make` for
    an object that is made, `set` for an assignment to an attribute or item, `update` for an augmented one, `mention`
    for an attribute that is named as a statement, `branch` for an `if` that is not known, `carry` for a name that a
    loop's body has bound anew at its end.
    """

    name: str
    full: str
    receiver: Value | None
    arguments: Arguments
    result: Value
    place: Place
    context: Context
    index: int = 0
    #: for `set` and `update`: the attribute's or variable's name; for `enter`: whether it is a network's forward
    attribute: str = ""
    #: for networks: the mode at this moment
    training: bool | None = None

    def value(self, name: str) -> Value | None:
        """An argument of an operation by its parameter's name (`input`, `target`, `dim`), however it was given.

        For layers, the arguments of the constructor are among them (`reduction` of a loss).
        """
        result = self.result
        if isinstance(result, Symbol):
            if name in result.options:
                return result.options[name]
            if name in ("input", "target"):
                position = 0 if name == "input" else 1
                return result.inputs[position] if position < len(result.inputs) else None
        return self.arguments.keywords.get(name)

    @property
    def location(self) -> Location:
        return self.place.location

    @property
    def node(self) -> ast.AST:
        return self.place.node

    @property
    def file(self) -> SourceFile:
        return self.place.file


@dataclass(eq=False, slots=True)
class Trace:
    """One way into a file, followed: its module-level code, or a function or class that nothing calls.

    `complete` is False when following it was given up (too long, too deep): then nothing follows from what is absent.
    `is_program` says that it is a whole program: module-level code, not a part whose arguments are unknown.
    """

    file: SourceFile
    entry: str
    is_program: bool
    events: list[Event] = field(default_factory=list)
    complete: bool = True
    _by_name: dict[str, list[Event]] = field(default_factory=dict)
    _indexed: int = 0

    def named(self, *names: str) -> Iterator[Event]:
        """The events of these short names, in order."""
        if self._indexed < len(self.events):
            self._index()
        found = [self._by_name[name] for name in names if name in self._by_name]
        if len(found) == 1:
            return iter(found[0])
        return iter(sorted(chain.from_iterable(found), key=attrgetter("index")))

    def _index(self) -> None:
        # Made when it is first asked for: dozens of rules look for a few events each.
        for event in islice(self.events, self._indexed, None):
            self._by_name.setdefault(event.name, []).append(event)
        self._indexed = len(self.events)


@dataclass(eq=False, slots=True)
class Reading:
    """All that was read from one file: what source rules judge."""

    file: SourceFile
    traces: list[Trace] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)

    def events(self, *names: str) -> Iterator[Event]:
        for trace in self.traces:
            yield from trace.named(*names)
