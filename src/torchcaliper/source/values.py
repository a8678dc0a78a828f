"""What an expression of a user's program may stand for, without running it.

Values are compared by identity: one object of the program is one value here, however many names it has.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from torchcaliper.findings import Location

if TYPE_CHECKING:
    from torchcaliper.source.file import SourceFile
    from torchcaliper.source.scope import Scope
    from torchcaliper.source.trace import Context, Loop

FunctionNode: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"
#: the size of a dim: a number, an own symbol (equal only to itself), or None where nothing is known
Size: TypeAlias = "int | Dim | None"
Shape: TypeAlias = "tuple[Size, ...]"


@dataclass(eq=False, slots=True)
class Dim:
    """A size that is not known as a number: the batch of a loader, `x.size(0)`; equal only to itself."""

    name: str = ""


@dataclass(eq=False, slots=True)
class Place:
    """Where in which file something stands. Never changed; not frozen only because that makes each one dearer."""

    file: SourceFile
    node: ast.AST

    @property
    def location(self) -> Location:
        return self.file.location(self.node)


@dataclass(eq=False, slots=True)
class Value:
    """Anything an expression may stand for. `place` is where it was made, `escaped` whether unknown code got it."""

    place: Place | None = field(default=None, kw_only=True)
    escaped: bool = field(default=False, kw_only=True)


@dataclass(eq=False, slots=True)
class Constant(Value):
    """A literal: number, string, None, True, a slice without unknown parts."""

    value: Any


@dataclass(eq=False, slots=True)
class External(Value):
    """Something imported from outside of the project, by its full name: `torch.nn.Linear`."""

    name: str


@dataclass(eq=False, slots=True)
class Module(Value):
    """A file of the project, imported."""

    file: SourceFile


@dataclass(eq=False, slots=True)
class Class(Value):
    """A class of the project. `members` holds what its body binds, `bases` its bases as values."""

    definition: ast.ClassDef
    scope: Scope
    bases: tuple[Value, ...] = ()
    members: dict[str, Value] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.definition.name

    def lineage(self) -> Iterator[Class | External]:
        """The class and its bases, depth first, each once; what is unknown is left out."""
        seen: list[Value] = []
        stack: list[Value] = [self]
        while stack:
            value = stack.pop(0)
            if value in seen or not isinstance(value, Class | External):
                continue
            seen.append(value)
            yield value
            if isinstance(value, Class):
                stack[:0] = value.bases

    def member(self, name: str) -> Value | None:
        """A member of the class or the nearest base of the project that has it."""
        for parent in self.lineage():
            if isinstance(parent, Class) and name in parent.members:
                return parent.members[name]
        return None

    @property
    def knows_all_bases(self) -> bool:
        """Whether every base is a class of the project or a named one from outside."""
        return all(
            isinstance(base, External) or (isinstance(base, Class) and base.knows_all_bases) for base in self.bases
        )


@dataclass(eq=False, slots=True)
class Function(Value):
    """A function of the project; `receiver` where it is bound. `decorators` are values, outermost first."""

    definition: FunctionNode
    scope: Scope
    owner: Class | None = None
    receiver: Value | None = None
    decorators: tuple[Value, ...] = ()
    #: arguments given beforehand by functools.partial
    partial: Arguments | None = None

    @property
    def name(self) -> str:
        return "<lambda>" if isinstance(self.definition, ast.Lambda) else self.definition.name

    def decorated_by(self, *names: str) -> bool:
        """Whether a decorator is one of these, by full name; calls of it (`@torch.no_grad()`) count."""
        return any(name_of(d) in names or (isinstance(d, Object) and d.type_name in names) for d in self.decorators)


@dataclass(eq=False, slots=True)
class Arguments:
    """What a call was given. `open` where `*args` or `**kwargs` of unknown contents are among them."""

    positional: tuple[Value, ...] = ()
    keywords: Mapping[str, Value] = field(default_factory=dict)
    open: bool = False

    def get(self, name: str, position: int | None = None) -> Value | None:
        """The argument of that name, or at that position."""
        if name in self.keywords:
            return self.keywords[name]
        if position is not None and position < len(self.positional):
            return self.positional[position]
        return None

    def all(self) -> Iterator[Value]:
        yield from self.positional
        yield from self.keywords.values()


@dataclass(eq=False, slots=True)
class Object(Value):
    """An instance: of a project class, or of a class from outside, by its full name.

    `arguments` are those of the call that made it; `attributes` what was assigned to it and, for classes from
    outside, what rules know by name. `training` is the mode of a network: None when nothing is known.
    """

    type: Class | str
    arguments: Arguments = field(default_factory=Arguments)
    attributes: dict[str, Value] = field(default_factory=dict)
    #: where it was made: loops, conditions, modes
    context: Context | None = None
    #: for a copy (copy.deepcopy), what it was copied from
    copied_from: Value | None = None

    @property
    def type_name(self) -> str:
        return self.type if isinstance(self.type, str) else self.type.name

    def is_a(self, *names: str) -> bool:
        """Whether its class is, or derives from, one of these outside classes."""
        if isinstance(self.type, str):
            return self.type in names
        return any(isinstance(parent, External) and parent.name in names for parent in self.type.lineage())

    def method(self, name: str) -> Value | None:
        """A method of the project's class, unbound."""
        return self.type.member(name) if isinstance(self.type, Class) else None


@dataclass(eq=False, slots=True)
class Collection(Value):
    """A list, tuple, set or generator. `items` where all are known; `element` stands for any other one."""

    kind: str
    items: list[Value] = field(default_factory=list)
    element: Value | None = None
    #: where a list was written out: loops, conditions
    context: Context | None = None

    @property
    def known(self) -> bool:
        return self.element is None

    def all(self) -> Iterator[Value]:
        yield from self.items
        if self.element is not None:
            yield self.element


@dataclass(eq=False, slots=True)
class Table(Value):
    """A dict: what is known of it by constant key; `element` stands for the rest."""

    items: dict[Any, Value] = field(default_factory=dict)
    element: Value | None = None
    #: where a dict was written out: loops, conditions
    context: Context | None = None

    def all(self) -> Iterator[Value]:
        yield from self.items.values()
        if self.element is not None:
            yield self.element


@dataclass(eq=False, slots=True)
class Symbol(Value):
    """The result of an operation on values: mostly a tensor, always a node of the expression that made it.

    `op` is the short name of what was done (`softmax`, `linear`, `detach`, `getitem`, `parameter`, `call`, ...; see
    `torchcaliper.source.operations`), `inputs` the values that went in (tensors first), `options` the others by
    their parameter's name. `by` is the network or function that was called, where there was one.
    """

    op: str
    inputs: tuple[Value, ...] = ()
    options: Mapping[str, Value] = field(default_factory=dict)
    by: Value | None = None
    #: whether autograd recorded it: False under no_grad or when it was detached
    recorded: bool = True
    shape: Shape | None = None
    context: Context | None = None

    def option(self, name: str) -> Any:
        """The constant given for an option; None when it was not given or is not known."""
        value = self.options.get(name)
        return value.value if isinstance(value, Constant) else None


@dataclass(eq=False, slots=True)
class Phi(Value):
    """A name that a loop's body assigns anew: `first` before the loop, `next` at the end of its body."""

    name: str
    first: Value
    next: Value | None = None
    #: the loop whose turns it lives through
    loop: Loop | None = None


@dataclass(eq=False, slots=True)
class Either(Value):
    """One of several values, decided by a branch that is not known."""

    options: tuple[Value, ...]


NONE = Constant(None)


def name_of(value: Value | None) -> str:
    """The full name of something from outside; empty for all else."""
    return value.name if isinstance(value, External) else ""


def constant(value: Value | None, default: Any = None) -> Any:
    """The literal that a value is; `default` when it is none."""
    return value.value if isinstance(value, Constant) else default


def options(value: Value | None) -> Iterator[Value]:
    """All values that a value may be: branches taken apart, a loop's first and later value."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        item = stack.pop()
        if item is None or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, Either):
            stack.extend(reversed(item.options))
        elif isinstance(item, Phi):
            stack.extend((item.next, item.first))
        else:
            yield item


def either(*values: Value) -> Value:
    """One of these; equal constants are one."""
    first = values[0] if values else None
    if first is not None and not isinstance(first, Either) and all(value is first for value in values):
        return first
    kept: list[Value] = []
    for value in values:
        for option in value.options if isinstance(value, Either) else (value,):
            if isinstance(option, Constant):
                if not any(isinstance(other, Constant) and _equal(option.value, other.value) for other in kept):
                    kept.append(option)
            elif not any(option is other for other in kept):
                kept.append(option)
    return kept[0] if len(kept) == 1 else Either(tuple(kept[:8]))


def _equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)
